;;; knl-mode.el --- Major mode for kjit's kernels  -*- lexical-binding: t -*-

;;; Code:

(defvar knl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?_ "w" table)
    table))

(defconst knl-keywords
  '("const" "fn" "kernel" "run" "let" "var" "param" "record" "enum" "type" "use" "test" "launch" "requires" "as"
    "if" "elif" "else" "for" "while" "in" "with" "break" "continue" "return" "and" "or" "not"))

(defconst knl-font-lock-keywords
  `((,(regexp-opt knl-keywords 'words) . font-lock-keyword-face)
    ("\\<\\(true\\|false\\)\\>" . font-lock-constant-face)
    ("\\<\\(\\([iu]\\(8\\|16\\|32\\|64\\)\\|b?f16\\|f32\\|f64\\)\\(x[234]\\)?\\|bool\\|c64\\|c128\\)\\>" . font-lock-type-face)
    ("\\<\\(threadIdx\\|blockIdx\\|blockDim\\|gridDim\\|warpsize\\|laneid\\)\\>" . font-lock-builtin-face)
    ("@\\w+" . font-lock-preprocessor-face)
    ("\\<\\(\\w+\\)\\s-*(" 1 font-lock-function-name-face)))

(defun knl-indent-line ()
  "Indent by the brackets that are open before the line, four blanks each."
  (interactive)
  (let* ((depth (car (syntax-ppss (line-beginning-position))))
         (closes (save-excursion (back-to-indentation) (looking-at "[])}]")))
         (column (* 4 (max 0 (- depth (if closes 1 0))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

(defun knl-format-buffer ()
  "Lay the buffer out by `kjit fmt'; what has errors stays as it is."
  (interactive)
  (let ((out (generate-new-buffer " *knl*")))
    (unwind-protect
        (if (zerop (call-process-region (point-min) (point-max) "kjit" nil (list out nil) nil "fmt" "-"))
            (replace-buffer-contents out)
          (message "kjit fmt: the file has errors"))
      (kill-buffer out))))

;;;###autoload
(define-derived-mode knl-mode prog-mode "knl"
  "Major mode for kjit's kernels."
  (setq-local comment-start "# "
              comment-start-skip "#+\\s-*"
              indent-line-function #'knl-indent-line
              font-lock-defaults '(knl-font-lock-keywords))
  (when buffer-file-name
    (setq-local compile-command (concat "kjit check " (shell-quote-argument buffer-file-name)))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.knl\\'" . knl-mode))

(provide 'knl-mode)
;;; knl-mode.el ends here
