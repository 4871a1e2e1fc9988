import type { RecordId } from '../../../src/core/model.ts'
import type { StoreQuery } from '../../records/types.ts'
import { timeZone } from '../../time-zone.ts'
import { api, type Inputs } from '../../trpc.ts'
import { saveUrl } from '../../ui/save-file.ts'
import { followJob } from '../sources/jobs.ts'

type ExportInput = Inputs['records']['export']

/** The records on the screen, to be exported. */
export interface ExportSource {
  tableId: string
  /** Title of the view, used as the file name. */
  title: string
  /** Visible fields in display order. */
  fieldIds: readonly string[]
  /** Includes the view's hidden fields. */
  allFieldIds: readonly string[]
  query: Pick<StoreQuery, 'filter' | 'sorts' | 'search'>
  /** Selected records; absent: all records of the query. */
  recordIds?: readonly RecordId[]
}

/** Options of the exported file. */
export interface ExportChoices extends Required<Pick<ExportInput, 'format' | 'isGuarded' | 'delimiter'>> {
  withHidden: boolean
}

/** A running export. */
export interface ExportRun {
  /** The downloaded file; null after `cancel`. @throws Error with the server's message */
  done: Promise<ExportedFile | null>
  /** Cancels the job; `done` then resolves with null. */
  cancel(): void
}

/** Exports to a file and downloads it, even if the dialog is closed meanwhile. */
export function runExport(
  { tableId, title, fieldIds, allFieldIds, query, recordIds }: ExportSource,
  { withHidden, ...choices }: ExportChoices,
  onProgress: OnProgress,
): ExportRun {
  const { filter, sorts, search } = query
  return runExportJob(
    () =>
      api.records.export.mutate({
        tableId,
        title,
        timeZone,
        filter,
        search,
        sorts: [...sorts],
        ...choices,
        fieldIds: [...(withHidden ? allFieldIds : fieldIds)],
        ...(recordIds && { recordIds: [...recordIds] }),
      }),
    onProgress,
  )
}

type OnProgress = (done: number, total: number | null) => void

/** Starts an export's job and downloads its file when it is ready, even if the dialog is closed meanwhile. */
export function runExportJob(start: () => Promise<{ jobId: string }>, onProgress: OnProgress): ExportRun {
  let jobId: string | null = null
  let isCancelled = false

  async function carryOut(): Promise<ExportedFile | null> {
    const started = await start()
    jobId = started.jobId
    if (isCancelled) {
      await api.jobs.cancel.mutate({ jobId })
      return null
    }
    const ended = await followJob(jobId, ({ done, total }) => onProgress(done, total))
    if (!ended || isCancelled) return null
    const file = ended.result as ExportedFile
    saveFile(file)
    return file
  }

  return {
    done: carryOut(),
    cancel() {
      isCancelled = true
      // If this fails, the job finishes by itself and its file is deleted after a day.
      if (jobId) api.jobs.cancel.mutate({ jobId }).catch((error) => console.warn('not cancelled', error))
    },
  }
}

/** True for the kinds of jobs that leave a file to download. */
export const isExportJob = (kind: string): boolean => EXPORT_JOBS.includes(kind)

const EXPORT_JOBS = ['data-export', 'base-export', 'base-file-export']

/** An exported file: signed URL, which expires, and name. */
export interface ExportedFile {
  url: string
  name: string
  /** Texts that were cut at the limit of a workbook. */
  textsCut?: number
}

/** Downloads the file. */
export const saveFile = ({ url, name }: ExportedFile): void => saveUrl(`/${url}`, name)
