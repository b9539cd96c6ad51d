# THE lists of features and of the laboratory's tabs. A feature is a folder here with the files:
#   NAME.h           its interface: the structs of its commands and their table, NAME_commands, and plain values that are
#                    shown. It knows no window and no ImGui
#   NAME_window.cpp  its part of the running window, make_NAME(), see app/window/window_feature.h
#   NAME_tab.cpp     its tab, NAME_tab, see app/panels/sections.h
#   NAME_panel.cpp   a panel over the picture, which app/panels/sections.h declares
#   NAME_verb.cpp    its verb of the command line
#   other .cpp       what it measures, without command line, OpenGL and ImGui; *_cuda.cpp in a build with CUDA: parts of
#                    orrery_lab, or, if they include more than that may, of a library orrery_NAME, which the folder's
#                    CMakeLists.txt makes
# Every frame calls the parts of the window in this order.
set(ORRERY_FEATURES runs report compare profile lessons workshop film sweep race doctor roofline)

# Each is a tab's id in scripts, and the stem of NAME_tab, whose title may differ: speed-error is "Speed".
set(ORRERY_TABS results speed-error sweep race card profile conservation compare workshop)

set(folder ${PROJECT_BINARY_DIR}/features)
set(headers "")
set(commands_headers "")
set(commands_list "")
set(window_list "")
set(tabs_list "")
set(tables window runs report camera overlays film ${ORRERY_FEATURES})
list(REMOVE_DUPLICATES tables)
foreach(name IN LISTS tables)
  # Those of the window itself, and those that its other parts know, are in app/ui_state/.
  foreach(header IN ITEMS features/${name}/${name}.h ui_state/${name}_commands.h ui_state/window_commands.h)
    set(defines "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/app/${header})
      file(STRINGS ${PROJECT_SOURCE_DIR}/app/${header} defines REGEX "std::tuple ${name}_commands{")
    endif()
    if(defines)
      list(APPEND headers ${header})
      string(APPEND commands_list "X(${name})\n")
      break()
    endif()
  endforeach()
endforeach()
foreach(name IN LISTS ORRERY_FEATURES)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/${name}/${name}_window.cpp)
    string(APPEND window_list "X(${name})\n")
  endif()
endforeach()
list(REMOVE_DUPLICATES headers)
foreach(header IN LISTS headers)
  string(APPEND commands_headers "#include \"app/${header}\"\n")
endforeach()
foreach(id IN LISTS ORRERY_TABS)
  string(REPLACE "-" "_" tab ${id})
  string(APPEND tabs_list "X(${tab}, \"${id}\")\n")
endforeach()
foreach(list IN ITEMS commands_headers commands_list window_list tabs_list)
  file(CONFIGURE OUTPUT ${folder}/${list}.inc CONTENT "${${list}}" @ONLY)
endforeach()
