import { type CellValue, completeOptions, readingOptions } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Field, Person } from '../../src/core/model.ts'
import { cellText } from '../cells/index.ts'
import { type ClipboardForms, writeClipboard } from './clipboard.ts'

/** The cells of fields in all forms of the clipboard. `values[i][j]` is a value of `fields[j]`. */
export function clipboardForms(
  fields: readonly Field[],
  values: CellValue[][],
  people: ReadonlyMap<string, Person>,
): ClipboardForms {
  const texts = values.map((row) => fields.map((field, at) => cellText(field, row[at] ?? null, people)))
  const copied = fields.map((field) => {
    const { id, title, type, options, result } = field
    return {
      id,
      title,
      type,
      options: readingOptions(field, completeOptions(fieldType(type), options)),
      result,
    }
  })
  return writeClipboard(texts, { fields: copied, values })
}

/** Writes through the async clipboard API; false if it is missing (plain HTTP) or refuses. */
export async function writeToClipboard(forms: ClipboardForms): Promise<boolean> {
  if (!navigator.clipboard?.write) return false
  const types = ['text/plain', 'text/html'] as const
  const parts = types.map((type) => [type, new Blob([forms[type]], { type })])
  try {
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(parts))])
    return true
  } catch (error) {
    if (error instanceof DOMException) return false
    throw error
  }
}
