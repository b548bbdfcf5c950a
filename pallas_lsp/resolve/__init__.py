"""What a dotted name of the user's code is, found by reading files: a thing of a library, or a place in the project.

``imports.import_targets`` answers for an import statement, ``canonical`` gives each thing of JAX one name, ``Project`` has
the files, ``Environment`` says where packages are installed, and ``installed`` asks jedi about the names in them.
"""
