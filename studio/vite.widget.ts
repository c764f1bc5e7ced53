// The notebook widget: one module without imports, `dist/widget.js`, beside the page.

import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: { target: "es2022", outDir: "dist", emptyOutDir: false, lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" } },
});
