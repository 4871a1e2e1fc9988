import { CircleAlert, CircleCheck, Download, Pause, Play, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type BaseImport, canSyncAgain, SOURCES_WITH_COMMENTS } from '../../../src/core/base-imports.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { fetchSignedIn } from '../../session/index.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { ScrollRegion } from '../../ui/composite.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { saveBlob } from '../../ui/save-file.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './base-imports.module.css'
import { PeopleTable } from './people-table.tsx'
import { SourceCredentials, type SourceInput } from './source-form.tsx'
import { statusText, stepText } from './status-text.ts'

const POLL_MS = 1000

interface ImportRunProps {
  importId: string
  onBack: () => void
  onClose: () => void
}

/** An import: its progress by table, what can be done with it, and its report. */
export function ImportRun({ importId, onBack, onClose }: ImportRunProps) {
  const query = trpc.baseImports.get.useQuery(
    { importId },
    { staleTime: 0, refetchInterval: ({ state }) => (state.data?.status === 'running' ? POLL_MS : false) },
  )
  const { data } = query
  const isRunning = data?.status === 'running'
  useEffect(() => {
    // The tables and fields that it has created, and the base's title in the list.
    if (data?.baseId && !isRunning) void cache.schema.invalidate()
  }, [data?.baseId, isRunning])
  const open = () => {
    if (!data?.baseId) return
    onClose()
    goTo(paths.base(data.baseId))
  }
  return (
    <Dialog
      title={data?.title ?? m.base_imports_import()}
      size="large"
      onClose={onClose}
      footer={
        <>
          <Button className={styles.back} onClick={onBack}>
            {m.base_imports_go_back()}
          </Button>
          {data?.baseId && data.status !== 'cancelled' && (
            <Button onClick={open}>{m.base_imports_open_base()}</Button>
          )}
          <Button variant="primary" onClick={onClose} data-autofocus>
            {isRunning ? m.base_imports_continue_in_background() : m.common_done()}
          </Button>
        </>
      }
    >
      {query.error && !data ? (
        <QueryError title={m.base_imports_imports_load_failed()} query={query} />
      ) : data ? (
        <div className={styles.content}>
          <Status run={data} />
          <Tables run={data} />
          <Commands run={data} onChanged={() => void query.refetch()} onRemoved={onClose} />
          {data.baseId !== null && (data.status !== 'cancelled' || canSyncAgain(data)) && (
            <PeopleTable run={data} />
          )}
          {data.problems > 0 && <Report run={data} />}
        </div>
      ) : (
        <div className={styles.content} aria-busy="true">
          <Skeleton height={24} />
          <Skeleton height={120} />
        </div>
      )}
    </Dialog>
  )
}

function Status({ run }: { run: BaseImport }) {
  const { status, error, counts } = run
  const isBad = status === 'failed'
  return (
    <div
      className={styles.status}
      data-tone={isBad ? 'danger' : status === 'completed' ? 'success' : undefined}
    >
      <p role={isBad ? 'alert' : 'status'}>
        {isBad ? <CircleAlert size={16} /> : status === 'completed' ? <CircleCheck size={16} /> : null}
        <span>
          {status === 'running' ? stepText(run) : statusText(run)}
          {error !== null && isBad && `: ${error}`}
        </span>
      </p>
      {status === 'completed' && counts.verified > 0 && (
        <p className={styles.hint}>
          {m.base_imports_counts({
            verified: counts.verified,
            files: formatNumber(counts.files),
            comments: formatNumber(counts.comments),
            views: formatNumber(counts.views),
          })}
        </p>
      )}
    </div>
  )
}

function Tables({ run }: { run: BaseImport }) {
  if (run.tables.length === 0) return null
  return (
    <ScrollRegion className={styles.scroll} tabIndex={0}>
      <table className={styles.tables}>
        <thead>
          <tr>
            <th scope="col">{m.base_imports_table()}</th>
            <th scope="col">{m.base_imports_read()}</th>
            <th scope="col">{m.base_imports_added()}</th>
            <th scope="col">{m.base_imports_changed()}</th>
            <th scope="col">{m.base_imports_removed()}</th>
          </tr>
        </thead>
        <tbody>
          {run.tables.map(({ sourceId, title, read, added, changed, removed, isDone }) => (
            <tr key={sourceId} data-done={isDone || undefined}>
              <th scope="row">
                <bdi>{title}</bdi>
              </th>
              <td>{formatNumber(read)}</td>
              <td>{formatNumber(added)}</td>
              <td>{formatNumber(changed)}</td>
              <td>{formatNumber(removed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

interface CommandsProps {
  run: BaseImport
  onChanged: () => void
  onRemoved: () => void
}

/** Pause, resume, cancel and import again, with the credentials if they are needed. */
function Commands({ run, onChanged, onRemoved }: CommandsProps) {
  const { id: importId, source, status, hasCredentials } = run
  const [from, setFrom] = useState<SourceInput | null>(null)
  const [removeMissing, setRemoveMissing] = useState(run.choices.removeMissing)
  const [compareComments, setCompareComments] = useState(run.choices.compareComments)
  const [names, setNames] = useState(run.choices.names)
  const maySync = canSyncAgain(run)
  const mayGoOn = status === 'paused' || status === 'failed' || maySync
  const needsCredentials = mayGoOn && !hasCredentials
  const credentials = from ? { credentials: from.credentials as Record<string, unknown> } : {}
  const act = async (command: () => Promise<unknown>) => {
    if (await attempt(command)) onChanged()
  }
  async function cancel(removes: boolean): Promise<void> {
    const isSure = await confirm({
      title: removes ? m.base_imports_cancel_and_remove() : m.base_imports_cancel_and_keep(),
      text: removes ? m.base_imports_cancel_remove_text() : m.base_imports_cancel_keep_text(),
      confirmLabel: m.base_imports_cancel_import(),
      danger: removes,
    })
    if (!isSure) return
    const done = await attempt(() => api.baseImports.cancel.mutate({ importId, removes }))
    if (!done) return
    await cache.bases.invalidate()
    if (removes) onRemoved()
    else onChanged()
  }
  return (
    <div className={styles.fields}>
      {needsCredentials && <SourceCredentials source={source} known={from} onChange={setFrom} />}
      {maySync && (
        <Checkbox
          label={m.base_imports_remove_missing()}
          checked={removeMissing}
          onChange={setRemoveMissing}
        />
      )}
      {maySync && run.choices.comments && SOURCES_WITH_COMMENTS.has(source) && (
        <Checkbox
          label={m.base_imports_compare_comments()}
          checked={compareComments}
          onChange={setCompareComments}
        />
      )}
      {maySync && <Checkbox label={m.base_imports_keep_names()} checked={names} onChange={setNames} />}
      <div className={styles.commands}>
        {status === 'running' && (
          <Button icon={Pause} onClick={() => void act(() => api.baseImports.pause.mutate({ importId }))}>
            {m.base_imports_pause()}
          </Button>
        )}
        {(status === 'paused' || status === 'failed') && (
          <Button
            icon={Play}
            disabled={needsCredentials && from === null}
            onClick={() => void act(() => api.baseImports.resume.mutate({ importId, ...credentials }))}
          >
            {m.base_imports_resume()}
          </Button>
        )}
        {maySync && (
          <Button
            icon={RotateCw}
            disabled={needsCredentials && from === null}
            onClick={() =>
              void act(() =>
                api.baseImports.again.mutate({
                  importId,
                  removeMissing,
                  compareComments,
                  names,
                  ...credentials,
                }),
              )
            }
          >
            {m.base_imports_sync_again()}
          </Button>
        )}
        {(status === 'running' || status === 'paused' || status === 'failed') && (
          <>
            <Button onClick={() => void cancel(false)}>{m.base_imports_cancel_and_keep()}</Button>
            <Button variant="danger" onClick={() => void cancel(true)}>
              {m.base_imports_cancel_and_remove()}
            </Button>
          </>
        )}
        {hasCredentials && status !== 'running' && (
          <Button
            variant="ghost"
            onClick={() => void act(() => api.baseImports.forgetCredentials.mutate({ importId }))}
          >
            {m.base_imports_forget_credentials()}
          </Button>
        )}
      </div>
    </div>
  )
}

/** What was not imported, and why. */
function Report({ run }: { run: BaseImport }) {
  const { id: importId, problems, title } = run
  const lines = trpc.baseImports.report.useQuery(
    { importId },
    { staleTime: 0, enabled: run.status !== 'running' },
  )
  const download = () =>
    attempt(async () => {
      const answer = await fetchSignedIn(`/api/internal/base-imports/${importId}/report`)
      if (!answer.ok) throw new Error(m.base_imports_imports_load_failed())
      saveBlob(await answer.blob(), m.base_imports_report_file({ title }))
    })
  return (
    <section className={styles.report}>
      <div className={styles.reportHead}>
        <h3>{m.base_imports_report_lines({ count: problems })}</h3>
        <Button size="small" icon={Download} onClick={() => void download()}>
          {m.base_imports_download_report()}
        </Button>
      </div>
      {lines.error && !lines.data && <QueryError title={m.base_imports_report_load_failed()} query={lines} />}
      <ScrollRegion className={styles.lines} tabIndex={0}>
        <ul>
          {(lines.data ?? []).map((line, index) => (
            <li key={[index, line.tableTitle, line.fieldTitle, line.recordId].join(' ')}>
              <strong dir="auto">
                {[line.tableTitle, line.fieldTitle ?? line.viewTitle, line.recordId]
                  .filter(Boolean)
                  .join(' › ')}
              </strong>
              <span dir="auto">
                {line.reason}
                {line.value !== null && ` (${line.value})`}
              </span>
            </li>
          ))}
        </ul>
      </ScrollRegion>
    </section>
  )
}
