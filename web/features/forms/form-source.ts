import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, Person, RecordId, View } from '../../../src/core/model.ts'
import type { FormOptions } from '../../../src/core/views/form.ts'
import type { Question } from '../../../src/core/views/question.ts'
import type { LinkLines } from '../../cells/cell.ts'

/** Answers to submit. */
export interface Submission {
  /** Idempotency key: the same for every attempt to send these answers, so that they create one record. */
  id: string
  /** Values by field id, without attachment fields. */
  values: Record<string, CellValue>
  /** Files by field id. */
  files: Record<string, LocalFile[]>
  onProgress: (part: number) => void
  signal: AbortSignal
}

/** Result of a submission. */
export interface Submitted {
  /** Null if the respondent may not see it. */
  recordId: RecordId | null
}

/** Thrown when the server rejects answers; lists the problems by field. */
export class AnswersRefused extends Error {
  override readonly name = 'AnswersRefused'

  constructor(
    message: string,
    readonly problems: readonly { fieldId: string; message: string }[],
  ) {
    super(message)
  }
}

/** A form's definition and its submit function, inside the app or through a public link. */
export interface FormSource {
  /** Storage key for unsent answers in this browser; null disables storing them. */
  keepAs: string | null
  view: View
  /** The view's options as a form. */
  options: FormOptions
  fields: readonly Field[]
  /** All questions in order, whether or not their conditions are met. */
  questions: readonly Question[]
  people: readonly Person[]
  /** The user that `@me` resolves to. */
  actorId: string | null
  /** URLs of the header pictures. */
  pictures: { banner: string | null; logo: string | null }
  /** Records that a link question offers, one page at a time. */
  linkable: (
    field: Field,
    page: { search: string; offset: number; limit: number },
    signal: AbortSignal,
  ) => Promise<LinkLines>
  /** @throws AnswersRefused when the server rejects the answers; other errors when sending fails */
  submit: (submission: Submission) => Promise<Submitted>
}

/** A chosen file that has not been uploaded yet. */
export interface LocalFile {
  key: string
  file: File
}
