;;; emacs.el --- Drives one Emacs with Eglot   -*- lexical-binding: t -*-
;; emacs -q --batch -l emacs.el FILE CONFIGURATION
;; Looks at the finding, asks what is under the cursor, takes the preferred fix, saves, and prints what it saw as JSON.

(package-initialize) ; finds Eglot where it is a package of its own
(require 'eglot)
(require 'flymake)
(require 'json)
(require 'python)

(defun drive-wait (what seen)
  "Wait until the function SEEN gives something; say WHAT was waited for in vain."
  (let ((deadline (+ (float-time) 20)) value)
    (while (not (setq value (funcall seen)))
      (when (> (float-time) deadline)
        (message "FAILED: %s" what)
        (kill-emacs 1))
      (accept-process-output nil 0.05))
    value))

(defun drive-findings (count)
  "The findings of the buffer once there are COUNT."
  (drive-wait (format "%d findings" count)
              (lambda ()
                (flymake-start)
                (let ((found (flymake-diagnostics)))
                  (and (= (length found) count) (or found t))))))

(let ((file (pop command-line-args-left))
      (configuration (pop command-line-args-left))
      seen)
  (setq eglot-sync-connect 20 make-backup-files nil create-lockfiles nil eglot-confirm-server-initiated-edits nil)
  (setq project-find-functions (list (lambda (folder) (cons 'transient folder))))
  (load configuration nil t)
  (find-file file)
  (apply #'eglot (eglot--guess-contact))
  (let ((finding (car (drive-findings 1))))
    (push (cons 'finding (flymake-diagnostic-text finding)) seen)
    (push (cons 'text (buffer-substring (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding))) seen)
    (goto-char (flymake-diagnostic-beg finding)))
  (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
    (push (cons 'hover (plist-get (plist-get hover :contents) :value)) seen))
  (let ((actions (append (eglot-code-actions (point) (line-end-position) "quickfix") nil)))
    (push (cons 'actions (vconcat (mapcar (lambda (action) (plist-get action :title)) actions))) seen)
    (eglot--apply-workspace-edit (plist-get (car actions) :edit) nil))
  (eglot--signal-textDocument/didChange) ; else sent when Emacs is idle, which it never is here
  (drive-findings 0)
  (save-buffer)
  (princ (json-encode seen))
  (eglot-shutdown (eglot-current-server)))
