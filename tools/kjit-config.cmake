# find_package(kjit): the targets kjit::kjit (the shared library) and kjit::static, which names all that it needs; and
# kjit::rt, for programs whose kernels were compiled ahead of time.
get_filename_component(_kjit_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_kjit_include "${_kjit_lib}/@INCLUDEDIR@" ABSOLUTE)
if(NOT TARGET kjit::kjit)
  add_library(kjit::kjit SHARED IMPORTED)
  set_target_properties(kjit::kjit PROPERTIES IMPORTED_LOCATION "${_kjit_lib}/libkjit.so.0"
    IMPORTED_SONAME libkjit.so.0 INTERFACE_INCLUDE_DIRECTORIES "${_kjit_include}")
  add_library(kjit::static STATIC IMPORTED)
  set_target_properties(kjit::static PROPERTIES IMPORTED_LOCATION "${_kjit_lib}/libkjit.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_kjit_include}"
    INTERFACE_LINK_LIBRARIES "@LIBS@")
  add_library(kjit::rt STATIC IMPORTED)
  set_target_properties(kjit::rt PROPERTIES IMPORTED_LOCATION "${_kjit_lib}/libkjit-rt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_kjit_include}"
    INTERFACE_LINK_LIBRARIES "@RT_LIBS@")
endif()
