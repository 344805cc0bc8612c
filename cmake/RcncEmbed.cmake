# rcnc_embed(OUTPUT HEADER NAME=FILE...): a C++ source that has the files as rcn::NAME, string views that HEADER declares.
# Run as a script (cmake -P) it writes the source.

if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"${HEADER}\"\n\nnamespace rcn {\n\n")
  string(REPLACE "|" ";" entries "${ENTRIES}")
  foreach(entry ${entries})
    string(REGEX MATCH "^([A-Za-z0-9_]+)=(.*)$" matched "${entry}")
    file(READ "${CMAKE_MATCH_2}" content)
    string(APPEND text "const std::string_view ${CMAKE_MATCH_1} = R\"file(${content})file\";\n")
  endforeach()
  file(WRITE "${OUTPUT}" "${text}\n}  // namespace rcn\n")
  return()
endif()

set(rcnc_embed_script ${CMAKE_CURRENT_LIST_FILE})

function(rcnc_embed output header)
  set(files)
  foreach(entry ${ARGN})
    string(REGEX REPLACE "^[^=]*=" "" file "${entry}")
    list(APPEND files ${file})
  endforeach()
  list(JOIN ARGN "|" entries)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${header} "-DENTRIES=${entries}" -P ${rcnc_embed_script}
    DEPENDS ${files} ${rcnc_embed_script}
    COMMENT "Embedding the files of ${header}"
    VERBATIM)
endfunction()
