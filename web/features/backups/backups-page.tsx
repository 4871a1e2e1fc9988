import { Archive, CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { hasEnded, useJob } from '../sources/jobs.ts'
import styles from './backups-page.module.css'
import { RestoreBaseDialog, RestoreToTimeDialog } from './restore-base-dialog.tsx'
import { SettingsDialog } from './settings-dialog.tsx'

type Overview = Outputs['backups']['overview']
type Backup = Outputs['backups']['list'][number]
type Summary = NonNullable<Backup['summary']>
type Job = Outputs['jobs']['get']

/** Schedule, state and list of backups, for super admins. */
export function BackupsPage() {
  const overview = trpc.backups.overview.useQuery()
  if (overview.error && !overview.data) return <QueryError title={m.backups_load_failed()} query={overview} />
  if (!overview.data) return <Skeleton height={160} />
  const { settings, keptUntil } = overview.data
  const configure = () => openDialog((close) => <SettingsDialog settings={settings} onClose={close} />)
  if (settings === null)
    return (
      <div className={styles.page}>
        <Restored restored={overview.data.restored} />
        <EmptyState icon={Archive} title={m.backups_not_set_up()} text={m.backups_not_set_up_hint()}>
          <Button variant="primary" onClick={configure}>
            {m.backups_set_up()}
          </Button>
        </EmptyState>
      </div>
    )
  return (
    <div className={styles.page}>
      <Restored restored={overview.data.restored} />
      {keptUntil !== null && <Alert>{m.backups_kept_since_restore({ time: timeOf(keptUntil) })}</Alert>}
      <State overview={overview.data} onConfigure={configure} />
      <Backups isBusy={overview.data.runningJobId !== null} canRestoreAll={overview.data.canRestoreAll} />
    </div>
  )
}

/** Says that everything was restored, and where the former data are. */
function Restored({ restored }: Pick<Overview, 'restored'>) {
  if (restored === null) return null
  const { at, backupAt, email, folder, schemas } = restored
  return (
    <Alert>
      <p>{m.backups_restored_all({ time: timeOf(at), backup: timeOf(backupAt), name: email })}</p>
      <p>{m.backups_former_data({ folder })}</p>
      {schemas && <p>{m.backups_former_tables({ name: schemas.name, time: timeOf(schemas.until) })}</p>}
    </Alert>
  )
}

/** What is set, when the next backup is made, and the one that runs. */
function State({ overview, onConfigure }: { overview: Overview; onConfigure: () => void }) {
  const { settings, nextAt, runningJobId, lastError } = overview
  const utils = trpc.useUtils()
  const run = trpc.backups.run.useMutation({
    onError: (error) => showError(error),
    onSettled: () => utils.backups.overview.invalidate(),
  })
  const job = useJob(runningJobId)
  const isOver = job !== undefined && hasEnded(job)
  useOnChange([isOver], () => {
    if (isOver) void utils.backups.invalidate()
  })
  const isRunning = run.isPending || (runningJobId !== null && !isOver)
  return (
    <section className={styles.section} aria-label={m.backups_schedule()}>
      <dl className={styles.facts}>
        <div>
          <dt>{m.backups_place()}</dt>
          <dd dir="ltr">{settings?.url}</dd>
        </div>
        <div>
          <dt>{m.backups_next()}</dt>
          <dd>{nextAt === null ? m.backups_no_schedule() : timeOf(nextAt)}</dd>
        </div>
        <div>
          <dt>{m.backups_encryption()}</dt>
          <dd>{settings?.isEncrypted ? m.backups_encrypted() : m.backups_not_encrypted()}</dd>
        </div>
      </dl>
      {lastError && (
        <Alert tone="error">
          {m.backups_last_failed({ time: timeOf(lastError.at), reason: lastError.reason })}
        </Alert>
      )}
      <div className={styles.buttons}>
        <Button variant="primary" busy={isRunning} onClick={() => run.mutate()}>
          {m.backups_run()}
        </Button>
        <Button onClick={onConfigure}>{m.backups_settings()}</Button>
        <RestoreToTime isBusy={isRunning} />
        {isRunning && job && <Progress job={job} />}
      </div>
    </section>
  )
}

/** What a backup has read, or what is restored of everything, which can be cancelled. */
function Progress({ job: { id, kind, progress } }: { job: Job }) {
  const cancel = trpc.jobs.cancel.useMutation({ onError: (error) => showError(error) })
  const done = formatBytes(progress.done)
  if (kind === 'backup-restore')
    return (
      <>
        <span className={styles.note} role="status">
          {progress.total === null
            ? m.backups_restoring_all()
            : m.backups_restoring_all_progress({ done, total: formatBytes(progress.total) })}
        </span>
        <Button size="small" busy={cancel.isPending} onClick={() => cancel.mutate({ jobId: id })}>
          {m.common_cancel()}
        </Button>
      </>
    )
  if (progress.done === 0) return null
  return (
    <span className={styles.note} role="status">
      {m.backups_progress({ size: done })}
    </span>
  )
}

/** Opens the dialog with the bases of this server and of all backups. */
function RestoreToTime({ isBusy }: { isBusy: boolean }) {
  const bases = trpc.bases.list.useQuery()
  const backups = trpc.backups.list.useQuery()
  const backedUp = backups.data?.flatMap(({ summary }) => summary?.bases ?? []) ?? []
  // The present title wins, then that of the latest backup.
  const titles = new Map(
    [...backedUp.toReversed(), ...(bases.data ?? [])].map(({ id, title }) => [id, title]),
  )
  const known = [...titles].map(([id, title]) => ({ id, title }))
  return (
    <Button
      disabled={isBusy || known.length === 0}
      onClick={() => openDialog((close) => <RestoreToTimeDialog bases={known} onClose={close} />)}
    >
      {m.backups_restore_to_time()}
    </Button>
  )
}

function Backups({ isBusy, canRestoreAll }: { isBusy: boolean; canRestoreAll: boolean }) {
  const backups = trpc.backups.list.useQuery()
  const utils = trpc.useUtils()
  const test = trpc.backups.test.useMutation({
    onError: (error) => showError(error),
    onSettled: () => utils.backups.overview.invalidate(),
  })
  const restoreAll = trpc.backups.restoreAll.useMutation({
    onError: (error) => showError(error),
    onSettled: () => utils.backups.overview.invalidate(),
  })
  async function askToRestoreAll({ id, at }: Summary) {
    if (await confirmRestoreAll(timeOf(at))) restoreAll.mutate({ backupId: id, confirm: id })
  }
  if (backups.error && !backups.data) return <QueryError title={m.backups_list_failed()} query={backups} />
  if (!backups.data) return <Skeleton height={120} />
  if (backups.data.length === 0)
    return <EmptyState icon={Archive} title={m.backups_none()} text={m.backups_none_hint()} />
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{m.backups_time()}</th>
            <th scope="col">{m.common_size()}</th>
            <th scope="col">{m.backups_new_data()}</th>
            <th scope="col">{m.backups_duration()}</th>
            <th scope="col">{m.backups_restore_test()}</th>
            <th scope="col">
              <span className="visually-hidden">{m.backups_actions()}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {backups.data.map((backup) => (
            <Row
              key={backup.id}
              backup={backup}
              isBusy={isBusy || test.isPending || restoreAll.isPending}
              onTest={() => test.mutate({ backupId: backup.id })}
              onRestoreAll={canRestoreAll ? (summary) => void askToRestoreAll(summary) : null}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Asks for the address of this server before it restores everything. */
const confirmRestoreAll = (time: string): Promise<boolean> =>
  confirm({
    title: m.backups_restore_all(),
    text: (
      <div className={styles.warning}>
        <p>{m.backups_restore_all_replaced({ time })}</p>
        <p>{m.backups_restore_all_kept()}</p>
        <p>{m.backups_restore_all_restart()}</p>
        <p>{m.backups_restore_all_sign_in()}</p>
      </div>
    ),
    confirmLabel: m.backups_restore_all(),
    danger: true,
    typed: location.host,
  })

interface RowProps {
  backup: Backup
  isBusy: boolean
  onTest: () => void
  /** Null if the server cannot. */
  onRestoreAll: ((summary: Summary) => void) | null
}

function Row({ backup, isBusy, onTest, onRestoreAll }: RowProps) {
  const { id, summary, test } = backup
  if (summary === null)
    return (
      <tr>
        <th scope="row">{id}</th>
        <td colSpan={5}>{m.backups_damaged()}</td>
      </tr>
    )
  const time = timeOf(summary.at)
  const restores = (): MenuItem[] => [
    {
      kind: 'action',
      label: m.backups_restore_base_menu(),
      disabledReason: summary.bases.length === 0 ? m.backups_no_bases() : null,
      run: () => openDialog((close) => <RestoreBaseDialog backup={summary} onClose={close} />),
    },
    {
      kind: 'action',
      label: m.backups_restore_all_menu(),
      tone: 'danger',
      disabledReason: onRestoreAll === null ? m.backups_restore_all_command() : null,
      run: () => onRestoreAll?.(summary),
    },
  ]
  return (
    <tr>
      <th scope="row">
        <time dateTime={summary.at}>{time}</time>
        <span className={styles.note}>{KINDS[summary.kind]()}</span>
        {summary.filesElsewhere > 0 && (
          <span className={styles.note}>{m.backups_files_left_out({ count: summary.filesElsewhere })}</span>
        )}
      </th>
      <td>{formatBytes(summary.size)}</td>
      <td>{formatBytes(summary.added)}</td>
      <td>{secondsOf(summary.durationMs)}</td>
      <td>
        <TestState test={test} />
      </td>
      <td>
        <div className={styles.actions}>
          <Button size="small" disabled={isBusy} aria-label={m.backups_test_of({ time })} onClick={onTest}>
            {m.backups_test()}
          </Button>
          <Button
            size="small"
            disabled={isBusy}
            aria-haspopup="menu"
            aria-label={m.backups_restore_of({ time })}
            onClick={(event) => openMenu(event.currentTarget, restores(), m.backups_restore_of({ time }))}
          >
            {m.backups_restore()}
          </Button>
        </div>
      </td>
    </tr>
  )
}

function TestState({ test }: { test: Backup['test'] }) {
  const isGood = test?.problem === null
  const Icon = test === null ? CircleDashed : isGood ? CircleCheck : CircleAlert
  const text = test === null ? m.backups_not_tested() : isGood ? m.backups_tested() : m.backups_test_failed()
  return (
    <span className={styles.state} data-set={test === null ? undefined : isGood}>
      <Icon size={14} aria-hidden />
      <span>
        {text}
        {test?.problem && (
          <span className={styles.problem} dir="auto">
            {test.problem}
          </span>
        )}
      </span>
    </span>
  )
}

const KINDS: Record<Summary['kind'], () => string> = {
  manual: m.backups_kind_manual,
  scheduled: m.backups_kind_scheduled,
  upgrade: m.backups_kind_upgrade,
}

const timeOf = (at: string): string =>
  new Date(at).toLocaleString(localeTag(), { dateStyle: 'medium', timeStyle: 'short' })

const secondsOf = (durationMs: number): string =>
  new Intl.NumberFormat(localeTag(), {
    style: 'unit',
    unit: 'second',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(durationMs / 1000)
