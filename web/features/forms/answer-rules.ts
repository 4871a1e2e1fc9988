import { writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { typeByName } from '../../../src/core/fields/attachment-kinds.ts'
import { startValue } from '../../../src/core/fields/default-value.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { idsIn, joinIds, ME } from '../../../src/core/fields/people.ts'
import { holdsPeople, isSecret } from '../../../src/core/fields/traits.ts'
import { checkAnswers, visibleQuestions } from '../../../src/core/views/form-answers.ts'
import type { FormSource, LocalFile } from './form-source.ts'

type Values = Record<string, CellValue>

/** Initial answers: the form's defaults, then the fields'. */
export function startValues({ questions, actorId }: FormSource): Values {
  const values: Values = {}
  for (const { field, form } of questions) {
    const defaultValue = form.defaultValue ?? field.defaultValue
    const own = startValue({ type: field.type, defaultValue }, { ms: Date.now() })
    values[field.id] = holdsPeople(field) ? peopleMeant(own, actorId) : own
  }
  return values
}

/** Resolves "me" to the signed-in user; removes it for visitors. */
const peopleMeant = (value: CellValue, actorId: string | null): CellValue =>
  joinIds(idsIn(value).flatMap((id) => (id === ME ? (actorId ?? []) : id)))

/** Values without passwords, which are never stored in the browser. */
const keepable = ({ fields }: FormSource, values: Values): Values => {
  const secret = new Set(fields.filter(isSecret).map(({ id }) => id))
  return Object.fromEntries(Object.entries(values).filter(([id]) => !secret.has(id)))
}

/** Chosen files as an attachment cell with placeholder paths, for validating rules before the upload. */
const pendingCell = (files: readonly LocalFile[]): CellValue =>
  writeAttachments(
    files.map(({ key, file }) => ({
      path: `download/pending/${key}`,
      title: file.name,
      mimetype: file.type || typeByName(file.name),
      size: file.size,
    })),
  )

const fileCells = (files: Record<string, LocalFile[]>): Values =>
  Object.fromEntries(Object.entries(files).map(([id, list]) => [id, pendingCell(list)]))

/**
 * Start values, conditions and checks of a form's answers. They need every field type, so a public form loads them
 * after its first paint.
 */
export const ANSWER_RULES = {
  startValues,
  visibleQuestions,
  checkAnswers,
  fileCells,
  keepable,
  holdsPeople,
}
export type AnswerRules = typeof ANSWER_RULES
