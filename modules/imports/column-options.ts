import { badRequest } from '../../src/core/errors.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { m } from '../../src/messages.gen.ts'

/**
 * The options of a new field as its type reads them.
 * @throws BAD_REQUEST with the names of the column and of the option that is wrong
 */
export function readColumnOptions(column: string, type: FieldTypeName, options: unknown): FieldOptions {
  const read = fieldType(type).options.safeParse(options ?? {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  const problem = issue?.message ?? ''
  const option = issue?.path.join('.') ?? ''
  throw badRequest(
    option === ''
      ? m.imports_error_column_options({ column, problem })
      : m.imports_error_column_option({ column, option, problem }),
  )
}
