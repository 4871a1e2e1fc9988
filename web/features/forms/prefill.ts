import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { parseValue, readValue } from '../../../src/core/fields/read.ts'
import { holdsFiles, isLinkType, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Question } from '../../../src/core/views/question.ts'

/** Prefilled answers from a form's URL. */
export interface Prefill {
  values: Record<string, CellValue>
  /** Ids of questions that the URL answers and hides. */
  hidden: ReadonlySet<string>
  /** Ids of questions that the URL answers and shows read-only. */
  readOnly: ReadonlySet<string>
}

/** Query parameter: `hidden` or `read-only` for every prefilled question. Written by the share dialog. */
export const MODE_PARAM = '_prefill'
/** Query parameter: comma-separated field titles or ids of prefilled questions to hide. */
export const HIDDEN_PARAM = '_hidden'
/** Query parameter: comma-separated field titles or ids of prefilled questions to show read-only. */
export const READ_ONLY_PARAM = '_readonly'

/** True if a URL can prefill the field: all types except files, links and passwords. */
export const fitsAddress = (field: Pick<Field, 'type'>): boolean =>
  !holdsFiles(field) && !isLinkType(field) && !isSecret(field)

/**
 * Reads prefilled answers from a query string such as `?Name=Ann&Tags=a,b&_hidden=Tags`. Parameters are field
 * titles (case-insensitive) or field ids. Invalid values are ignored; their questions are neither hidden nor
 * read-only.
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

/** Parses formatted text as typed by a user, then falls back to the stored format. */
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
