# Manual pages and completions, which the command itself writes from its option tables: build/man and build/completions.
# This file is included for the rules, and run (cmake -P) with `program` and `folder` after each link of the command.
if(CMAKE_SCRIPT_MODE_FILE)
  function(keep file)
    execute_process(COMMAND ${program} ${ARGN} OUTPUT_FILE ${folder}/${file} COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  execute_process(COMMAND ${program} man --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${names}" names)
  string(REPLACE "\n" ";" names "${names}")
  file(REMOVE_RECURSE ${folder}/man ${folder}/completions)
  file(MAKE_DIRECTORY ${folder}/man ${folder}/completions)
  keep(man/cleave.1 man)
  foreach(name IN LISTS names)
    keep(man/cleave-${name}.1 man ${name})
  endforeach()
  keep(completions/cleave completion bash)
  keep(completions/_cleave completion zsh)
  keep(completions/cleave.fish completion fish)
  return()
endif()

if(CLEAVE_SANITIZE OR CLEAVE_FUZZ OR CMAKE_CROSSCOMPILING)
  return() # not to be installed, or not to be run here
endif()
add_custom_command(TARGET cleave_cli POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:cleave_cli> -D folder=${PROJECT_BINARY_DIR}
    -P ${PROJECT_SOURCE_DIR}/cmake/CleaveManual.cmake)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
foreach(place cleave:bash-completion/completions _cleave:zsh/site-functions cleave.fish:fish/vendor_completions.d)
  string(REPLACE ":" ";" place ${place})
  list(GET place 0 file)
  list(GET place 1 to)
  install(FILES ${PROJECT_BINARY_DIR}/completions/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${to} COMPONENT runtime)
endforeach()
