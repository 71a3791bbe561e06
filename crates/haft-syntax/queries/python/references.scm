(call function: (identifier) @reference.call)
(call function: (attribute attribute: (identifier) @reference.call))
(decorator (identifier) @reference.call)
(decorator (attribute attribute: (identifier) @reference.call))

(import_statement name: (dotted_name (identifier) @reference.import))
(import_statement name: (aliased_import (dotted_name (identifier) @reference.import)))
(import_from_statement (dotted_name (identifier) @reference.import))
(import_from_statement (relative_import (dotted_name (identifier) @reference.import)))
(import_from_statement (aliased_import (dotted_name (identifier) @reference.import)))
(aliased_import alias: (identifier) @reference.import)

(type (identifier) @reference.type)
(type (attribute attribute: (identifier) @reference.type))
(type (generic_type (identifier) @reference.type))
(class_definition superclasses: (argument_list (identifier) @reference.type))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference.type)))

(identifier) @reference.name
