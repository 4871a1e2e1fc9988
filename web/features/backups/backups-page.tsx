import { Archive, CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { hasEnded, useJob } from '../sources/jobs.ts'
import styles from './backups-page.module.css'
import { RestoreBaseDialog, RestoreToTimeDialog } from './restore-base-dialog.tsx'
import { SettingsDialog } from './settings-dialog.tsx'

type Overview = Outputs['backups']['overview']
type Backup = Outputs['backups']['list'][number]

/** Schedule, state and list of backups, for super admins. */
export function BackupsPage() {
  const overview = trpc.backups.overview.useQuery()
  if (overview.error && !overview.data) return <QueryError title={m.backups_load_failed()} query={overview} />
  if (!overview.data) return <Skeleton height={160} />
  const { settings } = overview.data
  const configure = () => openDialog((close) => <SettingsDialog settings={settings} onClose={close} />)
  if (settings === null)
    return (
      <EmptyState icon={Archive} title={m.backups_not_set_up()} text={m.backups_not_set_up_hint()}>
        <Button variant="primary" onClick={configure}>
          {m.backups_set_up()}
        </Button>
      </EmptyState>
    )
  return (
    <div className={styles.page}>
      <State overview={overview.data} onConfigure={configure} />
      <Backups isBusy={overview.data.runningJobId !== null} />
    </div>
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
        <Button variant="primary" busy={isRunning} disabled={isRunning} onClick={() => run.mutate()}>
          {m.backups_run()}
        </Button>
        <Button onClick={onConfigure}>{m.backups_settings()}</Button>
        <RestoreToTime isBusy={isRunning} />
        {isRunning && job && job.progress.done > 0 && (
          <span className={styles.note} role="status">
            {m.backups_progress({ size: formatBytes(job.progress.done) })}
          </span>
        )}
      </div>
    </section>
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

function Backups({ isBusy }: { isBusy: boolean }) {
  const backups = trpc.backups.list.useQuery()
  const utils = trpc.useUtils()
  const test = trpc.backups.test.useMutation({
    onError: (error) => showError(error),
    onSettled: () => utils.backups.overview.invalidate(),
  })
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
              isBusy={isBusy || test.isPending}
              onTest={() => test.mutate({ backupId: backup.id })}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ backup, isBusy, onTest }: { backup: Backup; isBusy: boolean; onTest: () => void }) {
  const { id, summary, test } = backup
  if (summary === null)
    return (
      <tr>
        <th scope="row">{id}</th>
        <td colSpan={5}>{m.backups_damaged()}</td>
      </tr>
    )
  const time = timeOf(summary.at)
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
          {summary.bases.length > 0 && (
            <Button
              size="small"
              disabled={isBusy}
              aria-label={m.backups_restore_base_of({ time })}
              onClick={() => openDialog((close) => <RestoreBaseDialog backup={summary} onClose={close} />)}
            >
              {m.backups_restore_base_menu()}
            </Button>
          )}
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

const KINDS: Record<NonNullable<Backup['summary']>['kind'], () => string> = {
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
