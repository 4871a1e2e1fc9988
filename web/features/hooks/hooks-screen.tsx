import { CircleAlert, Copy, EllipsisVertical, ListChecks, Pencil, Plus, Trash2, Webhook } from 'lucide-react'
import { useState } from 'react'
import { isRecordEvent, type ListedHook } from '../../../src/core/hooks.ts'
import type { Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Main } from '../../ui/main.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { SwitchInput } from '../../ui/switch.tsx'
import { TableFilter } from '../history/history-filters.tsx'
import lists from '../layout/list-screen.module.css'
import { findChannelForm } from './channels/index.ts'
import { STATUS_LABELS } from './deliveries.tsx'
import { HookEditor, PAUSE_TEXTS } from './hook-editor.tsx'
import { useHookNews } from './hook-news.ts'
import styles from './hooks.module.css'
import { whenText } from './trigger-labels.ts'

/** The webhooks of a base or table. `hookId` in the address opens one, at its deliveries with `tab=deliveries`. */
export function HooksScreen() {
  const { baseId = '' } = useParams()
  const { tableId, hookId, tab } = useSearch()
  useDocumentTitle(m.hooks_webhooks())
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tables = trpc.schema.tables.useQuery({ baseId })
  const mayList = roleCan(base?.role ?? null, 'hook.list')
  const all = trpc.hooks.listOfBase.useQuery({ baseId }, { enabled: mayList, staleTime: 0 })
  useHookNews((news) => news.baseId === baseId, all.refetch)
  const [newIn, setNewIn] = useState<string | null>(null)
  const hooks = all.data?.filter((hook) => tableId === undefined || hook.tableId === tableId)
  const opened = all.data?.find(({ id }) => id === hookId)
  const open = (id: string | null, openTab?: 'deliveries') =>
    goTo(paths.webhooks(baseId, { tableId, hookId: id ?? undefined, tab: openTab }), {
      replace: hookId !== undefined,
    })

  function create(target: EventTarget & Element) {
    const [only, ...others] = tableId === undefined ? (tables.data ?? []) : [{ id: tableId }]
    if (only && others.length === 0) return setNewIn(only.id)
    openMenu(
      target,
      (tables.data ?? []).map(({ id, title }) => ({ kind: 'action', label: title, run: () => setNewIn(id) })),
      m.hooks_choose_table(),
    )
  }
  const createButton = tables.data && tables.data.length > 0 && (
    <Button variant="primary" icon={Plus} onClick={({ currentTarget }) => create(currentTarget)}>
      {m.hooks_new_webhook()}
    </Button>
  )

  if (base && !mayList) {
    return (
      <Main className={lists.screen}>
        <EmptyState icon={Webhook} title={m.hooks_only_creators()} headingLevel={1} />
      </Main>
    )
  }
  const failed = [all, tables].find((query) => query.error && !query.data)
  const isEmpty = hooks?.length === 0
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.hooks_webhooks()}</h1>
        <div className={styles.tools}>
          <TableFilter
            tables={tables.data}
            tableId={tableId}
            onChoose={(id) => goTo(paths.webhooks(baseId, { tableId: id }), { replace: true })}
          />
          {!isEmpty && createButton}
        </div>
      </header>
      {failed ? (
        <QueryError title={m.hooks_load_failed()} query={failed} />
      ) : isEmpty ? (
        <EmptyState icon={Webhook} title={m.hooks_no_webhooks()} text={m.hooks_no_webhooks_text()}>
          {createButton}
        </EmptyState>
      ) : (
        <ul className={lists.list} aria-busy={all.isPending} data-testid="hooks">
          {hooks?.map((hook) => (
            <HookRow
              key={hook.id}
              hook={hook}
              table={tables.data?.find(({ id }) => id === hook.tableId)}
              siblings={all.data?.filter((other) => other.tableId === hook.tableId) ?? []}
              onOpen={(openTab) => open(hook.id, openTab)}
            />
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={56} />)}
        </ul>
      )}
      {opened ? (
        <HookEditor
          key={opened.id}
          baseId={baseId}
          tableId={opened.tableId}
          hook={opened}
          tab={tab === 'deliveries' ? 'deliveries' : 'settings'}
          onClose={() => open(null)}
        />
      ) : (
        newIn !== null && (
          <HookEditor baseId={baseId} tableId={newIn} hook={null} onClose={() => setNewIn(null)} />
        )
      )}
    </Main>
  )
}

interface HookRowProps {
  hook: ListedHook
  table: Table | undefined
  /** The webhooks of the same table, in their order. */
  siblings: readonly ListedHook[]
  onOpen: (tab?: 'deliveries') => void
}

function HookRow({ hook, table, siblings, onOpen }: HookRowProps) {
  const { id, title, channel, pause, isActive, last, waiting, dead } = hook
  // Shown until the server has answered.
  const [asked, setAsked] = useState<boolean | null>(null)
  async function turn(next: boolean) {
    setAsked(next)
    await setActive(id, next)
    setAsked(null)
  }
  const form = findChannelForm(channel.type)
  const Icon = form?.icon ?? Webhook
  return (
    <li className={styles.hook} data-testid="hook">
      <SwitchInput
        aria-label={m.hooks_active({ title })}
        checked={asked ?? isActive}
        onChange={(next) => void turn(next)}
      />
      <Icon size={18} aria-hidden className={styles.icon} />
      <div className={styles.hookText}>
        <button type="button" className={styles.title} dir="auto" onClick={() => onOpen()}>
          {title}
        </button>
        <p className={lists.facts}>
          {table && <span dir="auto">{table.title}</span>}
          <span>{whenText(hook)}</span>
          <span dir="ltr" className={styles.receiver}>
            {form?.describe(channel.payload) ?? channel.type}
          </span>
        </p>
        {pause && (
          <p className={styles.paused}>
            <CircleAlert size={14} aria-hidden />
            {PAUSE_TEXTS[pause.reason]()}
            <Button
              size="small"
              aria-haspopup="menu"
              onClick={({ currentTarget }) => openMenu(currentTarget, resumeMenu(id), m.hooks_resume())}
            >
              {m.hooks_resume()}
            </Button>
          </p>
        )}
      </div>
      <button type="button" className={styles.last} onClick={() => onOpen('deliveries')}>
        {last ? (
          <>
            <span className={styles.status} data-status={last.status}>
              {STATUS_LABELS[last.status]()}
            </span>
            <time dateTime={last.at} data-tip={new Date(last.at).toLocaleString(localeTag())}>
              {formatAgo(last.at)}
            </time>
          </>
        ) : (
          <span className={styles.note}>{isEverCalled(hook) ? m.hooks_never_called() : m.hooks_never()}</span>
        )}
        {waiting > 0 && <span className={styles.note}>{m.hooks_waiting_count({ count: waiting })}</span>}
        {dead > 0 && <span className={styles.error}>{m.hooks_dead_count({ count: dead })}</span>}
      </button>
      <IconButton
        icon={EllipsisVertical}
        size="small"
        label={m.hooks_options({ title })}
        aria-haspopup="menu"
        onClick={({ currentTarget }) => openMenu(currentTarget, hookMenu(hook, siblings, onOpen), title)}
      />
    </li>
  )
}

/** False for settings that API clients may store without effect. */
const isEverCalled = ({ event, operations }: ListedHook): boolean =>
  event === 'manual' || (isRecordEvent(event) && operations.length > 0)

function hookMenu(
  hook: ListedHook,
  siblings: readonly ListedHook[],
  onOpen: (tab?: 'deliveries') => void,
): MenuItem[] {
  const at = siblings.findIndex(({ id }) => id === hook.id)
  const move = (label: string, before: string | null): MenuItem => ({
    kind: 'action',
    label,
    run: () => void run(() => api.hooks.reorder.mutate({ hookId: hook.id, before })),
  })
  return [
    { kind: 'id', label: m.hooks_webhook(), value: hook.id },
    { kind: 'action', label: m.hooks_edit(), icon: Pencil, run: () => onOpen() },
    { kind: 'action', label: m.hooks_deliveries(), icon: ListChecks, run: () => onOpen('deliveries') },
    {
      kind: 'action',
      label: m.common_duplicate(),
      icon: Copy,
      run: () => void run(() => api.hooks.duplicate.mutate({ hookId: hook.id })),
    },
    ...(at > 0 ? [move(m.views_move_up(), siblings[at - 1]?.id ?? null)] : []),
    ...(at >= 0 && at < siblings.length - 1 ? [move(m.views_move_down(), siblings[at + 2]?.id ?? null)] : []),
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.hooks_delete(),
      icon: Trash2,
      tone: 'danger',
      run: () => void remove(hook),
    },
  ]
}

async function run(change: () => Promise<unknown>): Promise<void> {
  await attempt(change)
  await cache.hooks.invalidate()
}

const setActive = (hookId: string, isActive: boolean, skipMissed = false): Promise<void> =>
  run(() => api.hooks.setActive.mutate({ hookId, isActive, skipMissed }))

/** What becomes of the changes during a pause. */
const resumeMenu = (hookId: string): MenuItem[] => [
  {
    kind: 'action',
    label: m.hooks_resume_deliver(),
    hint: m.hooks_resume_deliver_hint(),
    run: () => void setActive(hookId, true),
  },
  {
    kind: 'action',
    label: m.hooks_resume_skip(),
    hint: m.hooks_resume_skip_hint(),
    run: () => void setActive(hookId, true, true),
  },
]

async function remove({ id, title }: ListedHook): Promise<void> {
  const agreed = await confirm({
    title: m.hooks_delete_title({ title }),
    text: m.hooks_delete_text(),
    confirmLabel: m.hooks_delete(),
    danger: true,
  })
  if (agreed) await run(() => api.hooks.delete.mutate({ hookId: id }))
}
