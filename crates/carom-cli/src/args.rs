//! What can be typed.

use crate::gradient::GradientArgs;
mod words;

use clap::{Args, Parser, Subcommand};
pub use words::{Citation, ReportFormat, SchemaOf};

/// Lagrangian mechanics with impacts: from a model file to its equations, and to its motion.
#[derive(Parser, Debug)]
#[command(name = "carom", version, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
MODEL is a model file, `-` for standard input, or the name of a gallery model.

Start here:
  carom run double_pendulum_wall        a gallery model, simulated
  carom derive double_pendulum_wall     its equations and its impact law
  carom new pendulum                    a first model of your own
  carom help model                      every table and key of a model file; also formulas, json, topics

Exit codes: 0 done, 1 model or options wrong, 2 simulation stopped early, 3 a file could not be read or written.";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Report all errors and warnings of a model
    Check(CheckArgs),
    /// Print the equations: motion, constraints, Hamiltonian side, impact law
    Derive(DeriveArgs),
    /// Simulate and summarise; -o writes a table
    Run(RunArgs),
    /// Draw a motion: plots (.svg, .png) or an animation (.html, .gif, .mp4)
    Show(ShowArgs),
    /// Simulate many starts and parameters; one table, one row per trajectory
    Sweep(SweepArgs),
    /// Find a periodic orbit and its multipliers
    Orbit(OrbitArgs),
    /// Follow a periodic orbit in a parameter: folds, period doublings, grazings
    Follow(FollowArgs),
    /// Estimate Lyapunov exponents: how fast nearby motions separate
    Lyapunov(LyapunovArgs),
    /// Join the parts of a sweep: the chunks of a folder, or all its shards
    #[cfg(feature = "tables")]
    Merge(MergeArgs),
    /// Look where many motions cross a section: bifurcation diagrams, sections, basins of attraction
    Scan(ScanArgs),
    /// Fit parameters and start values to measured signals and impact times
    Fit(FitArgs),
    /// Write a first model to change
    New(NewArgs),
    /// List the models that come with carom, or copy one
    Gallery(GalleryArgs),
    /// Print a JSON Schema: of model files, for editors, or of a result
    Schema(SchemaArgs),
    /// Say how to cite carom
    Cite(CiteArgs),
    /// Explain a command, a key, a table, a function, a field, a reason to stop or a message
    Help(HelpArgs),
    /// Open the studio in a browser: text, motion, plots and equations, live
    Studio(StudioArgs),
    /// Serve an editor: diagnostics, completion, hover, rename, over standard input and output
    #[command(
        after_help = "This is a language server: editors start it. For VS Code see editors/vscode; other editors need the command `carom lsp` for TOML files."
    )]
    Lsp(LspArgs),
    /// Print completions for a shell: bash, zsh, fish, powershell, elvish
    Completions(CompletionsArgs),
    /// Write the pages of the manual, for packages
    #[command(hide = true)]
    Manual(ManualArgs),
}

/// `carom studio`
#[derive(Args, Debug)]
pub struct StudioArgs {
    /// Model file or the name of a gallery model; the page can write a file back
    pub model: Option<String>,

    /// Port to listen on, at 127.0.0.1 alone [default: a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,

    /// Only print the address
    #[arg(long)]
    pub no_open: bool,
}

/// `carom lsp`
#[derive(Args, Debug)]
pub struct LspArgs {
    /// Standard input and output, the only way; editors like to say so
    #[arg(long)]
    pub stdio: bool,
}

/// A model and what to change about it.
#[derive(Args, Debug)]
pub struct ModelArgs {
    /// Model file, `-` for standard input, or the name of a gallery model
    pub model: String,

    /// Change a parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,

    /// Change the start: positions, velocities as theta', momenta; separated by commas
    #[arg(long, value_name = "x=1,x'=2", allow_hyphen_values = true)]
    pub start: Vec<String>,

    /// Only errors, no warnings and no summary
    #[arg(long, short)]
    pub quiet: bool,
}

/// How to simulate.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// End time (absolute, inclusive)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub until: Option<String>,

    /// Local error per step, 1e-16 to 1e-2 [default: 1e-15, near round-off]
    #[arg(long, value_name = "EPS", allow_hyphen_values = true)]
    pub tolerance: Option<String>,

    /// Move an inconsistent start onto the constraints instead of refusing it
    #[arg(long)]
    pub project: bool,

    /// Another entry of the run table, for example method=rk4 or max_impacts=100
    #[arg(long, value_name = "KEY=VALUE")]
    pub option: Vec<String>,
}

/// When to sample.
#[derive(Args, Debug)]
pub struct SampleArgs {
    /// Sample at these times, in any order
    #[arg(long, value_name = "T1,T2,…", allow_hyphen_values = true, conflicts_with = "samples")]
    pub at: Option<String>,

    /// Number of evenly spaced samples, both ends included [default: 201]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub samples: Option<String>,
}

/// `carom check`
#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Print the diagnostics as JSON
    #[arg(long)]
    pub json: bool,
}

/// `carom derive`
#[derive(Args, Debug)]
pub struct DeriveArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Output format [default: text, or by the extension of -o]
    #[arg(long, short, value_enum)]
    pub format: Option<ReportFormat>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,

    /// Only this part: model, energy, motion, constraints, hamiltonian, impacts, …; may be repeated
    #[arg(long, value_name = "NAME")]
    pub part: Vec<String>,

    /// LaTeX without a preamble, to paste into a paper
    #[arg(long, conflicts_with = "json")]
    pub fragment: bool,

    /// Write to a file; its extension chooses the format
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
}

/// `carom run`
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    #[command(flatten)]
    pub samples: SampleArgs,

    /// Write a table: .csv .json .npz .parquet
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,

    /// Report how much the motion amplifies errors; with a list, its derivatives with respect to `start`, single start values,
    /// parameters and `restitution.WALL`
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub sensitivity: Option<String>,
    #[command(flatten)]
    pub gradient: GradientArgs,

    /// Simulate N times and report the shortest times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// `carom show`
#[derive(Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    #[command(flatten)]
    pub samples: SampleArgs,

    /// The picture; its extension says which: .svg .png .html .gif .mp4 [default: MODEL.html]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// What to plot: "theta1,theta2", "theta2' vs theta2", energy, view; may be repeated, one panel each
    #[arg(long, value_name = "SIGNALS")]
    pub plot: Vec<String>,

    /// One more run to compare with: parameters, start values and entries of the run table, as "g=1.62" or
    /// "method=rk4,step=0.01" (without a step: one from sample to sample); may be repeated, one run each
    #[arg(long, value_name = "CHANGES", allow_hyphen_values = true)]
    pub compare: Vec<String>,

    /// Dark colours
    #[arg(long)]
    pub dark: bool,
}

/// `carom fit`
#[derive(Args, Debug)]
pub struct FitArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,

    /// The data: a csv file with columns time and signals, or impact.WALL with times of impacts
    #[arg(long, value_name = "FILE")]
    pub data: String,

    /// What is free: parameters, coordinates and velocities of the start, separated by commas
    #[arg(long, value_name = "NAMES")]
    pub vary: Vec<String>,

    /// Draw the data against the motion: .svg (the first column) or .html
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// The result as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `carom scan`
#[derive(Args, Debug)]
pub struct ScanArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,

    /// Vary a parameter, a coordinate or a velocity: A..B:N or A,B,C; a grid of two start values is a basin
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    pub vary: Vec<String>,

    /// Look once every period: a number or a formula of parameters
    #[arg(long, value_name = "T", allow_hyphen_values = true, conflicts_with = "section")]
    pub period: Option<String>,

    /// Look at this event, or just after impacts on this wall
    #[arg(long, value_name = "EVENT_OR_WALL")]
    pub section: Option<String>,

    /// Crossings to leave out, so that motions settle [default: 200]
    #[arg(long, value_name = "N")]
    pub skip: Option<usize>,

    /// Crossings to keep [default: 100, of a basin 8]
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,

    /// What of the state a picture shows: one name over a parameter, two otherwise
    #[arg(long, value_name = "NAMES")]
    pub show: Option<String>,

    /// Write a picture (.png .svg) or the table (.csv .parquet)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// A summary as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `carom sweep`
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,

    /// Vary a parameter, a coordinate or a velocity: A..B:N or A,B,C; several make a grid
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    pub vary: Vec<String>,

    /// Draw uniformly from A..B; with --count and --seed
    #[arg(long, value_name = "NAME=A..B", allow_hyphen_values = true)]
    pub random: Vec<String>,

    /// How many random trajectories
    #[arg(long, value_name = "N", requires = "random")]
    pub count: Option<u64>,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Take starts and parameters from a table (.csv .parquet .npz), one trajectory per row
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vary", "random"])]
    pub table: Option<String>,

    /// Write the table: .csv .npz .parquet, or a folder/ of parquet files that any number of processes may fill
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Only part I of N: of the rows, or of the chunks of a folder; for array jobs
    #[arg(long, value_name = "I/N", requires = "output")]
    pub shard: Option<String>,

    /// Trajectories per chunk of a folder [default: measured once, about 3 s of work]
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u64).range(1..))]
    pub chunk: Option<u64>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// Go on where an interrupted sweep to the same file left off
    #[arg(long, requires = "output")]
    pub resume: bool,

    /// Also write every impact of every trajectory to a second table, NAME.impacts.EXT
    #[arg(long, requires = "output")]
    pub impacts: bool,

    /// Final values to write instead of all outputs: outputs, energy, p_x, gap.WALL, … as in the table of a run
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<String>,

    /// Write how often, when first and when last these events fired; and every firing to NAME.events.EXT
    #[arg(long, value_name = "NAMES")]
    pub events: Option<String>,

    /// Print a summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// When a motion is to return.
#[derive(Args, Debug)]
pub struct ReturnArgs {
    /// Period of the forcing, a formula of parameters, for example "2*pi/omega"
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub period: Option<String>,

    /// Event or wall at which the motion returns; on a wall, the state just after its impact
    #[arg(long, value_name = "EVENT_OR_WALL")]
    pub section: Option<String>,

    /// Return after N crossings of the section, or N periods [default: 1]
    #[arg(long, value_name = "N")]
    pub crossings: Option<usize>,

    /// Look for the orbit where a run settles, not at the start
    #[arg(long)]
    pub guess_from_run: bool,

    /// Hold a conserved quantity at this value, for example energy=1.5 [default: its value at the start]
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub hold: Vec<String>,
}

/// `carom orbit`
#[derive(Args, Debug)]
pub struct OrbitArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    #[command(flatten)]
    pub returns: ReturnArgs,

    /// Write the orbit: .html page, .svg or .png picture, .json
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `carom follow`
#[derive(Args, Debug)]
pub struct FollowArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    #[command(flatten)]
    pub returns: ReturnArgs,

    /// The parameter and its range; begun where the model is, if that lies inside
    #[arg(long, value_name = "NAME=A..B", allow_hyphen_values = true)]
    pub vary: String,

    /// Follow the branch of twice the period that leaves at the first period doubling
    #[arg(long)]
    pub doubled: bool,

    /// Write the branch: .csv table, .svg or .png picture, .html page, .json
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `carom lyapunov`
#[derive(Args, Debug)]
pub struct LyapunovArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,

    /// Many motions, each start (or parameter) drawn uniformly from A..B: their mean, and their scatter as error
    #[arg(long, value_name = "NAME=A..B", allow_hyphen_values = true)]
    pub random: Vec<String>,

    /// How many of them [default: 64]
    #[arg(long, value_name = "N", requires = "random")]
    pub count: Option<u64>,

    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `carom merge`
#[cfg(feature = "tables")]
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The folder of a sweep, or the files of all its shards in any order
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<String>,

    /// Write the table: .parquet .csv
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Only errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// `carom new`
#[derive(Args, Debug)]
pub struct NewArgs {
    /// Name of the model; writes NAME.toml
    pub name: String,

    /// Write no JSON Schema beside it
    #[arg(long)]
    pub no_schema: bool,

    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// `carom completions`
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `carom manual`
#[derive(Args, Debug)]
pub struct ManualArgs {
    /// Folder to write carom.1, carom-run.1, … into
    pub folder: String,
}

/// `carom gallery`
#[derive(Args, Debug)]
pub struct GalleryArgs {
    /// Model to copy into the current folder
    pub name: Option<String>,

    /// Print it instead of writing a file
    #[arg(long, requires = "name")]
    pub print: bool,

    /// Print the list as a page of the book
    #[arg(long, hide = true, conflicts_with = "name")]
    pub markdown: bool,

    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// `carom schema`
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Of what: a model file, or what a command prints with --json
    #[arg(value_enum, default_value_t = SchemaOf::Model)]
    pub of: SchemaOf,

    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
}

/// `carom cite`
#[derive(Args, Debug)]
pub struct CiteArgs {
    /// In which form
    #[arg(long, short, value_enum, default_value_t = Citation::All)]
    pub format: Citation,
}

/// `carom help`
#[derive(Args, Debug)]
pub struct HelpArgs {
    /// What to explain; `carom help topics` says what there is
    #[arg(value_name = "TOPIC", allow_hyphen_values = true)]
    pub topic: Vec<String>,

    /// Print Markdown, as in the pages of the book
    #[arg(long, hide = true)]
    pub markdown: bool,
}
