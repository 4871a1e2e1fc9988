import {
  CircleAlert,
  CircleCheck,
  CircleSlash,
  Download,
  type LucideIcon,
  Table2,
  Undo2,
  X,
} from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import type { LinkedColumn, LinkResult } from '../../../src/core/imports/link-result.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { currentPath, goTo, paths } from '../../navigation/paths.ts'
import { fetchSignedIn } from '../../session/index.ts'
import { api, cache, type Outputs } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { attempt, showError } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { saveBlob } from '../../ui/save-file.ts'
import { type ExportedFile, isExportJob, saveFile } from '../exports/run-export.ts'
import styles from './run-view.module.css'
import {
  cancelGroup,
  cancelRun,
  dismissRun,
  followUnfinished,
  hasEnded,
  IMPORT_JOB,
  type ImportRun,
  LINK_JOB,
  useRuns,
} from './runs.ts'
import { createdTexts, linkTexts, UpdatePreview, updateText } from './update-preview.tsx'

interface RunProps {
  run: ImportRun
  /** 3 (default) in a dialog, below its title. */
  headingLevel?: 2 | 3
}

/** An import from upload to result; calls `onLeave` when its table is opened. */
export function RunView({ run, onLeave, headingLevel }: RunProps & { onLeave: () => void }) {
  const { status, result } = run
  return (
    <section className={styles.run} aria-label={run.fileName}>
      <RunName run={run} headingLevel={headingLevel} />
      {!hasEnded(run) && (
        <Underway run={run} cancelLabel={m.imports_cancel_import()}>
          <Going run={run} />
        </Underway>
      )}
      {status === 'failed' && (
        <Outcome icon={CircleAlert} tone="danger">
          {m.imports_nothing_was_imported_reason({ reason: run.error ?? '' })}
        </Outcome>
      )}
      {status === 'cancelled' && (
        <Outcome icon={CircleSlash}>{m.imports_import_cancelled_nothing_was_imported()}</Outcome>
      )}
      {status === 'completed' && result?.update?.isPreview && (
        <>
          <UpdatePreview
            update={result.update}
            title={result.title}
            created={result.created}
            links={result.links}
          />
          {result.problems > 0 && <Problems result={result} />}
          <div className={styles.actions}>
            <ReportButton run={run} problems={result.problems} />
          </div>
        </>
      )}
      {status === 'completed' && result && !result.update?.isPreview && (
        <Finished run={run} result={result} onLeave={onLeave} />
      )}
    </section>
  )
}

function RunName({ run, headingLevel = 3 }: RunProps) {
  const Heading = `h${headingLevel}` as const
  return (
    <Heading className={styles.name} dir="auto">
      {run.fileName}
    </Heading>
  )
}

interface OutcomeProps {
  icon: LucideIcon
  tone?: 'success' | 'danger'
  children: ReactNode
}

/** How a job ended. */
function Outcome({ icon: Icon, tone, children }: OutcomeProps) {
  return (
    <p className={styles.outcome} data-tone={tone} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon size={16} />
      {children}
    </p>
  )
}

/** Progress of a job with a Cancel button. */
function Underway({
  run,
  cancelLabel,
  children,
}: {
  run: ImportRun
  cancelLabel: string
  children: ReactNode
}) {
  return (
    <div className={styles.going}>
      <Bar run={run} />
      <div className={styles.line}>
        {children}
        <CancelButton label={cancelLabel} cancel={() => cancelRun(run.id)} />
      </div>
    </div>
  )
}

function CancelButton({ label, cancel }: { label: string; cancel: () => Promise<void> }) {
  const [isCancelling, setCancelling] = useState(false)
  return (
    <Button
      size="small"
      busy={isCancelling}
      onClick={() => {
        setCancelling(true)
        cancel().catch((error) => {
          setCancelling(false)
          showError(error)
        })
      }}
    >
      {label}
    </Button>
  )
}

/** Runs, with one Cancel button above those of a start of which several are running. */
export function RunList({
  runs,
  isCards = false,
  children,
}: {
  runs: readonly ImportRun[]
  /** True outside of a dialog. */
  isCards?: boolean
  children: (run: ImportRun) => ReactNode
}) {
  const groups = Map.groupBy(runs, ({ group, id }) => group ?? id)
  return [...groups].map(([key, own]) => {
    const running = own.filter((run) => !hasEnded(run))
    return (
      <Fragment key={key}>
        {typeof key === 'string' && running.length > 1 && (
          <div className={isCards ? `${styles.line} ${styles.card}` : styles.line}>
            <span role="status">{m.imports_started_together({ count: running.length })}</span>
            <CancelButton label={m.imports_cancel_all()} cancel={() => cancelGroup(key)} />
          </div>
        )}
        {own.map(children)}
      </Fragment>
    )
  })
}

/** Another job, such as a copy, that was running when the page was opened, or the links of an import. */
export function JobView({ run, headingLevel }: RunProps) {
  return (
    <section className={styles.run} aria-label={run.fileName}>
      <RunName run={run} headingLevel={headingLevel} />
      {!hasEnded(run) && (
        <Underway run={run} cancelLabel={m.common_cancel()}>
          <span>{goingText(run)}</span>
        </Underway>
      )}
      {run.status === 'failed' && (
        <Outcome icon={CircleAlert} tone="danger">
          {run.error ?? m.imports_this_failed()}
        </Outcome>
      )}
      {run.status === 'cancelled' && <Outcome icon={CircleSlash}>{m.imports_cancelled()}</Outcome>}
      {run.status === 'completed' && !run.links?.columns.length && (
        <Outcome icon={CircleCheck}>
          {run.file ? m.imports_name_is_ready({ name: run.file.name }) : m.common_done()}
        </Outcome>
      )}
      {run.links && <LinkedColumns run={run} links={run.links} />}
      {run.file && <DownloadExport file={run.file} />}
    </section>
  )
}

function goingText({ kind, status, linking, rows, totalRows }: ImportRun): string {
  if (linking) return m.imports_linking({ ...linking, done: formatNumber(rows), count: totalRows ?? rows })
  if (kind === LINK_JOB && status !== 'failed') return m.imports_links_waiting()
  return status === 'waiting' ? m.imports_waiting_other_work_base() : m.imports_running()
}

/** The columns that became links, and the cells that name no record. */
function LinkedColumns({ run, links }: { run: ImportRun; links: LinkResult }) {
  return (
    <>
      {links.columns.map((column) => (
        <Outcome
          key={`${column.tableId} ${column.field}`}
          icon={column.problem === null ? CircleCheck : CircleAlert}
          tone={column.problem === null ? 'success' : 'danger'}
        >
          {linkedText(column)}
        </Outcome>
      ))}
      {links.problems > 0 && (
        <div className={styles.problems}>
          <Samples samples={links.samples} />
        </div>
      )}
      <div className={styles.actions}>
        <ReportButton run={run} problems={links.problems} />
      </div>
    </>
  )
}

function linkedText({ field, table, related, problem, linked, created, refused }: LinkedColumn): string {
  if (problem !== null) return m.imports_link_failed({ field, table, reason: problem })
  const text = m.imports_link_done({ field, table, related, count: linked })
  const more = [
    created > 0 ? m.imports_link_created({ count: created }) : null,
    refused > 0 ? m.imports_link_refused({ count: refused }) : null,
  ]
  return [text, ...more.filter((each) => each !== null)].join(' ')
}

/** Downloads a resumed export by click, since browsers block downloads without one. */
function DownloadExport({ file }: { file: ExportedFile }) {
  return (
    <Button size="small" variant="primary" icon={Download} onClick={() => saveFile(file)}>
      {m.common_download()}
    </Button>
  )
}

function Bar({ run }: { run: ImportRun }) {
  const isSending = run.status === 'uploading'
  const [done, total] = isSending ? [run.sent, run.size] : [run.rows, run.totalRows ?? 0]
  const share = total > 0 ? Math.min(1, done / total) : 0
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-label={
        isSending
          ? m.imports_uploading()
          : run.kind === IMPORT_JOB
            ? m.imports_importing()
            : m.imports_progress()
      }
      aria-valuenow={Math.round(share * 100)}
    >
      <div style={{ inlineSize: `${share * 100}%` }} />
    </div>
  )
}

/** Status text of a running import. */
function Going({ run }: { run: ImportRun }) {
  const seconds = useSeconds(run.startedAt)
  const time = m.imports_seconds_short({ count: seconds })
  if (run.status === 'uploading') {
    const percent = run.size > 0 ? Math.floor((run.sent / run.size) * 100) : 0
    if (run.isOffline) return <span role="status">{m.imports_upload_interrupted({ percent })}</span>
    return <span>{m.imports_uploading_percent({ percent })}</span>
  }
  if (run.status === 'waiting') return <span>{m.imports_waiting_another_import_finish()}</span>
  return (
    <span className={styles.count}>
      {m.imports_rows_count({ count: run.rows })} · {time}
    </span>
  )
}

function useSeconds(since: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.floor((now - since) / 1000))
}

function Finished({ run, result, onLeave }: { run: ImportRun; result: ImportResult; onLeave: () => void }) {
  const [isUndone, setUndone] = useState(false)
  const [isBusy, setBusy] = useState(false)
  if (isUndone) {
    return <Outcome icon={Undo2}>{undoneText(result)}</Outcome>
  }
  async function undo(): Promise<void> {
    setBusy(true)
    await attempt(async () => {
      await undoImport(run, result)
      setUndone(true)
      if (result.isNewTable && currentPath().includes(result.tableId)) goTo(paths.base(run.baseId))
    })
    setBusy(false)
  }
  return (
    <>
      <Outcome icon={CircleCheck} tone="success">
        {result.update
          ? updateText(result.update, result.title)
          : m.imports_rows_added_title_seconds_s({
              count: result.rows,
              title: result.title,
              seconds: formatNumber(result.seconds),
            })}
      </Outcome>
      {[...linkTexts(result), ...createdTexts(result)].map((text) => (
        <p key={text}>{text}</p>
      ))}
      {result.stopped && <Alert>{stoppedText(result.stopped)}</Alert>}
      {result.problems > 0 && <Problems result={result} />}
      <div className={styles.actions}>
        <ReportButton run={run} problems={result.problems} />
        {canUndo(result) && (
          <Button size="small" icon={Undo2} busy={isBusy} onClick={() => void undo()}>
            {m.common_undo()}
          </Button>
        )}
        <Button
          size="small"
          variant="primary"
          icon={Table2}
          onClick={() => {
            onLeave()
            goTo(paths.table(run.baseId, result.tableId))
          }}
        >
          {m.imports_open_table()}
        </Button>
      </div>
    </>
  )
}

function stoppedText({ row, rows: count, reason }: NonNullable<ImportResult['stopped']>): string {
  const shown = row === null ? '–' : formatNumber(row)
  return reason === null
    ? m.imports_stopped_cancelled({ row: shown, count })
    : m.imports_stopped({ row: shown, count, reason })
}

function undoneText({ isNewTable, update }: ImportResult): string {
  if (isNewTable) return m.imports_table_moved_trash()
  return update ? m.imports_update_undone() : m.imports_the_imported_rows_were_removed()
}

const cellsText = ({ cellsRefused: count, update }: ImportResult): string =>
  update ? m.imports_invalid_cells_ignored({ count }) : m.imports_invalid_cells_left_empty({ count })

function Problems({ result }: { result: ImportResult }) {
  const { rowsRefused, cellsRefused, samples } = result
  const parts = [
    rowsRefused > 0 ? m.imports_rows_skipped({ count: rowsRefused }) : null,
    cellsRefused > 0 ? cellsText(result) : null,
  ].filter((part) => part !== null)
  return (
    <div className={styles.problems}>
      <p>{parts.length > 0 ? parts.join(', ') : m.imports_some_rows_had_problems()}</p>
      <Samples samples={samples} />
    </div>
  )
}

function Samples({ samples }: Pick<ImportResult, 'samples'>) {
  return (
    <ul>
      {samples.map(({ row, column, value, reason }) => (
        <li key={`${row} ${column}`}>
          <span>{m.imports_row_row({ row: formatNumber(row) })}</span>
          {column && <span dir="auto">{column}</span>}
          {value && <code dir="auto">{value}</code>}
          <span>{reason}</span>
        </li>
      ))}
    </ul>
  )
}

/** Downloads the refused rows and cells, if there are any. */
function ReportButton({ run: { jobId, fileName }, problems }: { run: ImportRun; problems: number }) {
  if (problems === 0 || jobId === null) return null
  return (
    <Button size="small" icon={Download} onClick={() => void downloadReport(jobId, fileName)}>
      {m.imports_download_skipped_rows()}
    </Button>
  )
}

/** Downloads the report of an import: skipped rows and cells with the reason. */
async function downloadReport(jobId: string, fileName: string): Promise<void> {
  await attempt(async () => {
    const answer = await fetchSignedIn(`/api/internal/jobs/${jobId}/report`)
    if (!answer.ok) throw new Error(m.imports_report_no_longer_available())
    saveBlob(await answer.blob(), m.imports_name_not_imported_csv({ name: fileName.replace(/\.[^.]*$/, '') }))
  })
}

/**
 * Undoes an import, even after later changes: a new table moves to the trash, added records are deleted.
 * @throws the server's error
 */
async function undoImport(
  { baseId }: ImportRun,
  { isNewTable, tableId, changeId }: ImportResult,
): Promise<void> {
  if (isNewTable) await api.schema.deleteTable.mutate({ tableId })
  else if (changeId !== null) await api.records.undo.mutate({ baseId, entryId: changeId })
  void cache.schema.tables.invalidate({ baseId })
}

/** False if the import added nothing. */
const canUndo = ({ isNewTable, changeId }: ImportResult): boolean => isNewTable || changeId !== null

let isShown = false

/** Shows running imports as cards in the corner of the page until each has ended and is dismissed. */
export function showCards(): void {
  if (isShown) return
  isShown = true
  openDialog((close) => (
    <RunCards
      onEmpty={() => {
        isShown = false
        close()
      }}
    />
  ))
}

function RunCards({ onEmpty }: { onEmpty: () => void }) {
  const runs = useRuns()
  const isEmpty = runs.length === 0
  useEffect(() => {
    if (isEmpty) onEmpty()
  }, [isEmpty, onEmpty])
  return createPortal(
    <section className={styles.cards} aria-label={m.imports_running_jobs()}>
      <RunList runs={runs} isCards>
        {(run) => (
          <div key={run.id} className={styles.card}>
            {run.kind === IMPORT_JOB ? (
              <RunView run={run} headingLevel={2} onLeave={() => dismissRun(run.id)} />
            ) : (
              <JobView run={run} headingLevel={2} />
            )}
            {hasEnded(run) && (
              <span className={styles.close}>
                <IconButton
                  icon={X}
                  size="small"
                  label={m.common_close()}
                  onClick={() => dismissRun(run.id)}
                />
              </span>
            )}
          </div>
        )}
      </RunList>
    </section>,
    document.body,
  )
}

type Job = Outputs['jobs']['unfinished'][number]

/** Shows cards of jobs that were started before this page was opened. */
export function showUnfinished(jobs: readonly Job[]): void {
  // Oldest first.
  for (const job of jobs.toReversed()) followUnfinished(job, nameOf(job))
  showCards()
}

function nameOf({ kind, subject }: Job): string {
  const name = subject ?? ''
  if (isExportJob(kind)) return m.common_export()
  switch (kind) {
    case LINK_JOB:
      return m.imports_links()
    case 'import':
    case 'base-file-import':
      return subject ?? m.imports_import()
    case 'duplicate-base':
    case 'duplicate-model':
    case 'copy-tables-to-base':
    case 'copy-table-to-base':
    case 'copy-records':
    case 'duplicate-column':
      return subject === null ? m.imports_duplicate_field() : m.imports_copy_name({ name })
    case 'storage.reclaim':
      return m.imports_reclaim_space()
    default:
      return subject ?? m.imports_work_in_the_background()
  }
}
