import type { Field } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { api } from '../../trpc.ts'
import { confirm } from '../../ui/confirm.tsx'
import type { FieldInput } from './field-commands.tsx'
import { removedOptions } from './field-draft.ts'

/**
 * Confirms an update of a field that removes options which records have.
 *
 * @throws the server's error
 */
export async function askRemoval(field: Field, patch: Partial<FieldInput>): Promise<boolean> {
  const [option, ...more] = removedOptions(patch, field)
  if (option === undefined) return true
  const { id: fieldId, type, title } = field
  const { lost } = await api.schema.previewType.query({ fieldId, type, options: patch.options })
  if (lost === 0) return true
  return confirm({
    title: m.schema_remove_options_confirm({ count: more.length + 1, option }),
    text: m.schema_remove_options_consequences({ count: lost, field: title }),
    confirmLabel: m.common_remove(),
    danger: true,
  })
}
