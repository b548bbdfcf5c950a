-- For Neovim 0.11 and later, with this folder's parent on 'runtimepath':
--   vim.lsp.enable("pallas_lsp")
---@type vim.lsp.Config
return {
  cmd = { "pallas-lsp", "server" },
  filetypes = { "python" },
  root_markers = { "pyproject.toml", "setup.py", "setup.cfg", ".git" },
  settings = {
    ["pallas-lsp"] = vim.empty_dict(),
  },
}
