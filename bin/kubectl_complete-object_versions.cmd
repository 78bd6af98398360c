@"%~dp0object-versions.cmd" complete --directive -- %*
