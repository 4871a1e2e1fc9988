import { useEffect, useMemo, useState } from 'react'
import type { Values } from '../../../../../src/core/changes.ts'
import type { AttachmentItem } from '../../../../../src/core/fields/attachment-item.ts'
import { writeAttachments } from '../../../../../src/core/fields/attachment-item.ts'
import type { Person, TableSchema, View } from '../../../../../src/core/model.ts'
import { questionsOf } from '../../../../../src/core/views/form-answers.ts'
import { optionsOf } from '../../../../../src/core/views/index.ts'
import { sendFile } from '../../../../attachments/send-file.ts'
import { useSignedFile } from '../../../../attachments/signed-files.ts'
import { detailsOf, messageOf } from '../../../../errors.ts'
import { recordsApi } from '../../../../records/api.ts'
import { runInQueue } from '../../../../records/base-queue.ts'
import { session } from '../../../../session/index.ts'
import { loadCells } from '../../../forms/answers/cells.ts'
import {
  AnswersRefused,
  type FormSource,
  type Submission,
  type Submitted,
} from '../../../forms/form-source.ts'
import { readLinkLines } from '../../../records/commands/link-reads.ts'

/** The form within the app: answers become records of the signed-in user. */
export function useAppSource(schema: TableSchema, view: View, people: readonly Person[]): FormSource {
  const options = useMemo(() => optionsOf(view, 'form'), [view])
  const { bannerPath, logoPath } = options
  const tableId = schema.table.id
  const banner = useSignedFile(tableId, bannerPath ?? undefined)?.url ?? null
  const logo = useSignedFile(tableId, logoPath ?? undefined)?.url ?? null
  return useMemo(
    (): FormSource => ({
      keepAs: null,
      view,
      options,
      fields: schema.fields,
      questions: questionsOf(view, schema.fields),
      people,
      actorId: session.userId(),
      pictures: { banner, logo },
      linkable: (field, page, signal) =>
        readLinkLines({ tableId, fieldId: field.id, recordId: null }, 'linkable', page, signal),
      submit: (submission) => insert(schema, submission),
    }),
    [schema, view, options, people, banner, logo, tableId],
  )
}

/** True once the cell editors are loaded. */
export function useCells(): boolean {
  const [isLoaded, setIsLoaded] = useState(false)
  const [failure, setFailure] = useState<{ error: unknown } | null>(null)
  useEffect(() => {
    loadCells().then(
      () => setIsLoaded(true),
      (error) => setFailure({ error }),
    )
  }, [])
  // Thrown while rendering, for the error boundary of the screen.
  if (failure) throw failure.error
  return isLoaded
}

/** Uploads the files, then creates the record. */
async function insert(schema: TableSchema, submission: Submission): Promise<Submitted> {
  const { baseId, id: tableId } = schema.table
  const values: Values = { ...submission.values, ...(await sendFiles(submission)) }
  try {
    const operation = { kind: 'insert' as const, tableId, rows: [{ values }] }
    const change = { baseId, operations: [operation], clientId: crypto.randomUUID() }
    const { inserted } = await runInQueue(baseId, () => recordsApi.apply(change))
    return { recordId: inserted[0] ?? null }
  } catch (error) {
    const { fieldId, reason } = detailsOf(error)
    if (typeof fieldId !== 'string') throw error
    const message = typeof reason === 'string' ? reason : messageOf(error)
    throw new AnswersRefused(messageOf(error), [{ fieldId, message }])
  }
}

async function sendFiles({ files, onProgress, signal }: Submission): Promise<Values> {
  const all = Object.values(files).flat()
  const total = all.reduce((sum, { file }) => sum + file.size, 0)
  const sent = new Map<string, number>()
  const progress = (key: string, bytes: number) => {
    sent.set(key, bytes)
    const done = [...sent.values()].reduce((sum, part) => sum + part, 0)
    if (total > 0) onProgress(Math.min(1, done / total))
  }
  const values: Values = {}
  for (const [fieldId, list] of Object.entries(files)) {
    const items: AttachmentItem[] = []
    for (const { key, file } of list) {
      const onPart = (bytes: number) => progress(key, Math.min(bytes, file.size))
      items.push(await sendFile({ file }, { signal, onProgress: onPart }))
    }
    values[fieldId] = writeAttachments(items)
  }
  return values
}
