@"%~dp0object-versions.cmd" %*
