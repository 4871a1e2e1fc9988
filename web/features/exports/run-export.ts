import type { RecordId } from '../../../src/core/model.ts'
import type { StoreQuery } from '../../records/types.ts'
import { timeZone } from '../../time-zone.ts'
import { api, type Inputs } from '../../trpc.ts'
import { followJob } from '../sources/jobs.ts'

type ExportInput = Inputs['records']['export']

/** What is exported: the records as they are on the screen. */
export interface ExportSource {
  tableId: string
  /** The view's, for the file's name. */
  title: string
  /** Fields in the order of the screen. */
  fieldIds: readonly string[]
  /** All that nobody hides by himself, for those who want more than the view shows. */
  allFieldIds: readonly string[]
  query: Pick<StoreQuery, 'filter' | 'sorts' | 'search'>
  /** Only these records: those that are ticked. */
  recordIds?: readonly RecordId[]
}

/** How the file is written. */
export interface ExportChoices extends Required<Pick<ExportInput, 'format' | 'isGuarded' | 'delimiter'>> {
  withHidden: boolean
}

/** An export under way. */
export interface ExportRun {
  /** The file's name, once the browser has been given it; null after `cancel`. @throws Error in words */
  done: Promise<string | null>
  /** Ends it; `done` then resolves without a file. */
  cancel(): void
}

/** Has a file written and saves it, whatever becomes of the dialog meanwhile. */
export function runExport(
  { tableId, title, fieldIds, allFieldIds, query, recordIds }: ExportSource,
  { withHidden, ...choices }: ExportChoices,
  onProgress: (done: number, total: number | null) => void,
): ExportRun {
  let jobId: string | null = null
  let isCancelled = false

  async function carryOut(): Promise<string | null> {
    const { filter, sorts, search } = query
    const started = await api.records.export.mutate({
      tableId,
      title,
      timeZone,
      filter,
      search,
      sorts: [...sorts],
      ...choices,
      fieldIds: [...(withHidden ? allFieldIds : fieldIds)],
      ...(recordIds && { recordIds: [...recordIds] }),
    })
    jobId = started.jobId
    if (isCancelled) {
      await api.jobs.cancel.mutate({ jobId })
      return null
    }
    const ended = await followJob(jobId, ({ done, total }) => onProgress(done, total))
    if (!ended || isCancelled) return null
    const file = ended.result as ExportedFile
    saveFile(file)
    return file.name
  }

  return {
    done: carryOut(),
    cancel() {
      isCancelled = true
      // Where it cannot be told, it ends by itself and its file goes after a day.
      if (jobId) api.jobs.cancel.mutate({ jobId }).catch((error) => console.warn('not cancelled', error))
    },
  }
}

/** The kind of job that exports are. */
export const EXPORT_JOB = 'data-export'

/** The file that an export has written: its signed address, which expires, and its name. */
export interface ExportedFile {
  url: string
  name: string
}

/** Has the browser download the file. */
export function saveFile({ url, name }: ExportedFile): void {
  const link = document.createElement('a')
  link.href = `/${url}`
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
}
