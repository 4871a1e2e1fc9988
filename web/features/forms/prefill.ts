import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { parseValue, readValue } from '../../../src/core/fields/read.ts'
import { holdsFiles, isLinkType, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Question } from '../../../src/core/views/form-answers.ts'

/** Prefilled answers from a form's URL. */
export interface Prefill {
  values: Record<string, CellValue>
  /** Ids of questions that are answered by the address and not shown. */
  hidden: ReadonlySet<string>
  /** Ids of questions that are shown and cannot be changed. */
  readOnly: ReadonlySet<string>
}

/** `hidden` or `read-only` for every answer that the address brings; the dialog of links writes it. */
export const MODE_PARAM = '_prefill'
/** Names titles whose questions are not shown, parted by commas; the answers stand under their titles. */
export const HIDDEN_PARAM = '_hidden'
/** Names titles whose answers cannot be changed. */
export const READ_ONLY_PARAM = '_readonly'

/** True where an answer can be written in an address: not files, linked records, or passwords. */
export const fitsAddress = (field: Pick<Field, 'type'>): boolean =>
  !holdsFiles(field) && !isLinkType(field) && !isSecret(field)

/**
 * Answers from the query of an address, by the titles of the fields: `?Name=Ann&Tags=a,b&_hidden=Tags`. Titles
 * are found in any case, and a field's id does as well. What does not fit its field is left out: the question
 * is then asked as if nothing stood there, and is neither hidden nor read-only.
 */
export function readPrefill(query: URLSearchParams, questions: readonly Question[]): Prefill {
  const find = fieldFinder(questions.map(({ field }) => field))
  const values: Record<string, CellValue> = {}
  for (const [name, text] of query) {
    const field = find(name)
    if (!field || !fitsAddress(field) || text.trim() === '') continue
    const value = prefilled(field, text)
    if (value !== null) values[field.id] = value
  }
  const named = (param: string): ReadonlySet<string> =>
    new Set(
      query
        .getAll(param)
        .flatMap((list) => list.split(','))
        .map((name) => find(name)?.id ?? '')
        .filter((id) => Object.hasOwn(values, id)),
    )
  const mode = query.get(MODE_PARAM)
  const all = new Set(Object.keys(values))
  return {
    values,
    hidden: mode === 'hidden' ? all : named(HIDDEN_PARAM),
    readOnly: mode === 'read-only' ? all : named(READ_ONLY_PARAM),
  }
}

/** As a person would write it; else as a program would. */
function prefilled(field: Field, text: string): CellValue {
  const parsed = parseValue(field, text)
  if (parsed !== null) return parsed
  const read = readValue(field, text)
  return read.ok ? read.value : null
}

function fieldFinder(fields: readonly Field[]): (name: string) => Field | undefined {
  const byTitle = new Map(fields.map((field) => [field.title.toLowerCase(), field]))
  const byId = new Map(fields.map((field) => [field.id, field]))
  return (name) => byTitle.get(name.trim().toLowerCase()) ?? byId.get(name.trim())
}
