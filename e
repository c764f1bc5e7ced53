error: cannot read places20.toml: no such file, and no gallery model of that name
  hint: `carom gallery` lists the models that come with carom, `carom new NAME` starts your own
