import { writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { typeByName } from '../../../src/core/fields/attachment-kinds.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, Person, RecordId, View } from '../../../src/core/model.ts'
import type { LinkLines } from '../../cells/cell.ts'

/** Answers on their way to the server. */
export interface Submission {
  /** The same for every attempt to send these answers, so that they become one record. */
  id: string
  /** Values by field id; questions of files are not among them. */
  values: Record<string, CellValue>
  /** Files by field id. */
  files: Record<string, LocalFile[]>
  onProgress: (part: number) => void
  signal: AbortSignal
}

/** Result of a submission. */
export interface Submitted {
  /** Null where whoever answers is not told. */
  recordId: RecordId | null
}

/** A refusal of answers, with what is wrong at each question. */
export class AnswersRefused extends Error {
  override readonly name = 'AnswersRefused'

  constructor(
    message: string,
    readonly problems: readonly { fieldId: string; message: string }[],
  ) {
    super(message)
  }
}

/** The form to be filled in, and where its answers go: the app's own, or a public link. */
export interface FormSource {
  /** Under which unsent answers are kept in this browser; null: they are not. */
  keepAs: string | null
  view: View
  fields: readonly Field[]
  people: readonly Person[]
  /** The user that `@me` resolves to. */
  actorId: string | null
  /** Addresses of the pictures at the top. */
  pictures: { banner: string | null; logo: string | null }
  /** Lines that a question of links offers. */
  linkable: (
    field: Field,
    page: { search: string; offset: number; limit: number },
    signal: AbortSignal,
  ) => Promise<LinkLines>
  /** @throws AnswersRefused; other errors where it could not be sent */
  submit: (submission: Submission) => Promise<Submitted>
}

/** A file that was chosen and has not been sent. */
export interface LocalFile {
  key: string
  file: File
}

/** Chosen files as the cell that they will be, for the rules: where they will lie the server says. */
export const pendingCell = (files: readonly LocalFile[]): CellValue =>
  writeAttachments(
    files.map(({ key, file }) => ({
      path: `download/pending/${key}`,
      title: file.name,
      mimetype: file.type || typeByName(file.name),
      size: file.size,
    })),
  )
