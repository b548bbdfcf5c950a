-- Drives one Neovim:  nvim --clean --headless -l neovim_features.lua FILE
-- Beside another Python server: hints, lens, hover, the page of a rule, all fixes at once. Prints what it saw as JSON.
local file = vim.fs.abspath(_G.arg[1])
local patience = 15000

local function wait(what, condition)
  if not vim.wait(patience, condition, 5) then
    io.stderr:write("FAILED: " .. what .. "\n")
    os.exit(1)
  end
end

vim.g.loaded_python3_provider = 0 -- else the Python file type starts every python3 on PATH
vim.opt.runtimepath:append(vim.env.PALLAS_NVIM)
vim.lsp.config("pallas_lsp", { cmd = vim.json.decode(vim.env.PALLAS_SERVER) })
vim.lsp.config("other", {
  cmd = vim.json.decode(vim.env.OTHER_SERVER),
  filetypes = { "python" },
  root_markers = { "pyproject.toml" },
  capabilities = { general = { positionEncodings = { "utf-16" } } }, -- all that pyright knows
})
vim.lsp.enable({ "pallas_lsp", "other" })
vim.cmd("filetype on") -- with -l a script runs before this
vim.cmd("silent edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()

local function findings(source)
  return vim.tbl_filter(function(finding) return finding.source == source end, vim.diagnostic.get(buffer))
end

wait("both servers attached", function() return #vim.lsp.get_clients({ bufnr = buffer }) == 2 end)
wait("findings of both", function() return #findings("pallas-lsp") == 1 and #findings("other") == 1 end)
local finding = findings("pallas-lsp")[1]
local seen = { place = { finding.lnum, finding.col, finding.end_col }, other = findings("other")[1].message, encodings = {} }
for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
  seen.encodings[client.name] = client.offset_encoding
end

vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
wait("hints", function() return #vim.lsp.inlay_hint.get({ bufnr = buffer }) > 0 end)
seen.hints = vim.tbl_map(function(hint)
  local label = hint.inlay_hint.label
  return type(label) == "string" and label or table.concat(vim.tbl_map(function(part) return part.value end, label))
end, vim.lsp.inlay_hint.get({ bufnr = buffer }))

vim.lsp.codelens.refresh({ bufnr = buffer })
wait("a lens", function() return #vim.lsp.codelens.get(buffer) > 0 end)
seen.lens = vim.lsp.codelens.get(buffer)[1].command.title
vim.api.nvim_win_set_cursor(0, { vim.lsp.codelens.get(buffer)[1].range.start.line + 1, 0 })
vim.lsp.codelens.run()
wait("the lens led to the finding", function() return vim.api.nvim_win_get_cursor(0)[1] == finding.lnum + 1 end)

vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
vim.lsp.buf.hover()
local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then return window end
  end
end
wait("the hover", float)
seen.hover = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float()), 0, -1, true), "\n")
vim.api.nvim_win_close(float(), true)

vim.lsp.buf.code_action({ context = { only = { "source.fixAll" }, diagnostics = {} }, apply = true })
wait("all fixes", function() return #findings("pallas-lsp") == 0 end)
seen.fixed = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
vim.cmd("silent undo")
wait("the finding again", function() return #findings("pallas-lsp") == 1 end)

vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
vim.lsp.buf.code_action({ filter = function(action) return action.title:find("^Explain") ~= nil end, apply = true })
wait("the rule's page", function() return vim.api.nvim_buf_get_name(0):find("%.md$") ~= nil end)
seen.page = vim.fs.basename(vim.api.nvim_buf_get_name(0))

io.stdout:write(vim.json.encode(seen) .. "\n")
for _, client in ipairs(vim.lsp.get_clients()) do client:stop() end
wait("the servers stopped", function() return #vim.lsp.get_clients() == 0 end)
