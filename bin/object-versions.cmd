@setlocal
@set "node=node"
@where /q node
@if errorlevel 1 if defined OBJECT_VERSIONS_NODE set "node=%OBJECT_VERSIONS_NODE%"& set "ELECTRON_RUN_AS_NODE=1"
@"%node%" "%~dp0object-versions.mjs" %*
