@node "%~dp0object-versions.mjs" %*
