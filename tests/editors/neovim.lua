-- Drives one Neovim:  nvim --clean --headless -l neovim.lua FILE
-- Looks at the finding, hovers over it, takes the quick fixes one after the other, and prints what it saw as JSON.
local file = vim.fs.abspath(_G.arg[1])
local patience = 15000

local function check(ok, what)
  if not ok then
    io.stderr:write("FAILED: " .. what .. "\n")
    os.exit(1)
  end
  return ok
end

vim.g.loaded_python3_provider = 0 -- else the Python file type starts every python3 on PATH
vim.opt.runtimepath:append(vim.env.PALLAS_NVIM)
vim.lsp.config("pallas_lsp", { cmd = vim.json.decode(vim.env.PALLAS_SERVER) })
vim.lsp.enable("pallas_lsp")
vim.cmd("filetype on") -- with -l a script runs before this
vim.cmd("silent edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()

local function wait(what, condition)
  check(vim.wait(patience, condition, 5), what)
end

local function findings(count)
  wait(count .. " findings", function() return #vim.diagnostic.get(buffer) == count end)
  return vim.diagnostic.get(buffer)
end

wait("the server attached", function() return #vim.lsp.get_clients({ bufnr = buffer, name = "pallas_lsp" }) == 1 end)
local client = vim.lsp.get_clients({ bufnr = buffer, name = "pallas_lsp" })[1]
local finding = findings(1)[1]
vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })

local hover = client:request_sync("textDocument/hover",
  vim.lsp.util.make_position_params(0, client.offset_encoding), patience, buffer)
check(hover and hover.result, "hover answered")

local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
params.context = { diagnostics = { finding.user_data.lsp }, only = { "quickfix" } }
local offered = client:request_sync("textDocument/codeAction", params, patience, buffer)
check(offered and offered.result, "actions were offered")

local fixed = {}
for _, action in ipairs(vim.tbl_filter(function(action) return action.edit ~= nil end, offered.result)) do
  vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  findings(0)
  table.insert(fixed, {
    title = action.title,
    preferred = action.isPreferred or false,
    text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n"),
  })
  vim.cmd("silent undo")
  findings(1)
end

io.stdout:write(vim.json.encode({
  encoding = client.offset_encoding,
  root = client.root_dir,
  message = finding.message,
  code = finding.code,
  place = { finding.lnum, finding.col, finding.end_lnum, finding.end_col },
  hover = hover.result.contents.value,
  fixed = fixed,
  commands = vim.tbl_map(function(action) return action.command and action.title end, offered.result),
}) .. "\n")

client:stop()
check(vim.wait(patience, function() return client:is_stopped() end, 10), "the server stopped")
