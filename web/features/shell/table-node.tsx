import { ChevronRight, Ellipsis, EyeOff, Globe, Lock, Plus, UserRound } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Base, Table, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { showError } from '../../ui/attempt.ts'
import { IconButton } from '../../ui/button.tsx'
import { ControlGroup } from '../../ui/composite.tsx'
import { matches } from '../../ui/matches.ts'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import { SortableList, useSortableItem } from '../../ui/sortable.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { setExpanded, useSidebarState } from '../layout/sidebar-state.ts'
import { TableIcon } from '../views/icons/chosen-icon.tsx'
import { hiddenMark } from '../views/manage/hidden-mark.ts'
import { ViewIcon } from '../views/manage/kind-info.tsx'
import { heldReason, modeMark } from '../views/manage/view-lock.ts'
import { LaterParts, menus } from './later.tsx'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'

/** A table in the tree, with its views when expanded. */
export function TableNode({ base, table, search }: { base: Base; table: Table; search: string }) {
  const open = useOpenPlace()
  const { expanded } = useSidebarState()
  const [isRenaming, setIsRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  const { ref, style, listeners } = useSortableItem(table.id)
  const isExpanded = expanded.has(table.id) || search !== ''
  const isCurrent = open.tableId === table.id
  const canRename = roleCan(base.role, 'table.update')
  const rename = () => setIsRenaming(true)
  const menuLabel = m.shell_options_for_table_title({ title: table.title })
  const menu = () => menus().then(({ tableMenu }) => tableMenu(base, table, rename))

  // Expand the table of the open view.
  const holdsOpenView = isCurrent && open.viewId !== undefined
  useEffect(() => {
    if (holdsOpenView) setExpanded(table.id, true)
  }, [holdsOpenView, table.id])

  function closeRename() {
    setIsRenaming(false)
    // The link is rendered again in this tick.
    requestAnimationFrame(() => link.current?.focus())
  }

  function onKeyDown(event: KeyboardEvent) {
    const forward = direction() === 'ltr' ? 'ArrowRight' : 'ArrowLeft'
    const back = direction() === 'ltr' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'F2' && canRename) rename()
    else if (event.key === forward) setExpanded(table.id, true)
    else if (event.key === back) setExpanded(table.id, false)
    else return
    event.preventDefault()
  }

  return (
    <ControlGroup
      ref={ref}
      style={style}
      onContextMenu={(event) => openContextMenu(event, menu(), menuLabel)}
    >
      <div className={styles.line} data-current={isCurrent && (!open.viewId || !isExpanded) ? '' : undefined}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isExpanded}
          aria-label={m.shell_views_of_title({ title: table.title })}
          onClick={() => setExpanded(table.id, !isExpanded)}
        >
          <ChevronRight size={14} />
        </button>
        {isRenaming ? (
          <InlineRename
            title={table.title}
            onRename={async (title) => (await menus()).renameTable(table, title)}
            onClose={closeRename}
          />
        ) : (
          <a
            ref={link}
            href={hrefOf(paths.table(base.id, table.id))}
            className={styles.link}
            aria-current={isCurrent ? 'page' : undefined}
            draggable={false}
            {...listeners}
            onDoubleClick={canRename ? rename : undefined}
            onKeyDown={onKeyDown}
          >
            <TableIcon table={table} />
            <span className={styles.title} dir="auto" {...tipOf(table)}>
              {table.title}
            </span>
          </a>
        )}
        <LaterParts slot="table" tableId={table.id} />
        <span className={styles.more}>
          {roleCan(base.role, 'view.create') && (
            <IconButton
              icon={Plus}
              size="small"
              label={m.shell_new_view_of_title({ title: table.title })}
              data-tip={m.shell_new_view()}
              aria-haspopup="menu"
              onClick={(event) =>
                openMenu(
                  event.currentTarget,
                  menus().then(({ newViewItems }) => newViewItems(base, table.id)),
                  m.shell_new_view(),
                )
              }
            />
          )}
          <IconButton
            icon={Ellipsis}
            size="small"
            label={menuLabel}
            data-tip={m.common_more()}
            aria-haspopup="menu"
            onClick={(event) => openMenu(event.currentTarget, menu(), menuLabel)}
          />
        </span>
      </div>
      {isExpanded && <ViewNodes base={base} table={table} search={search} />}
    </ControlGroup>
  )
}

/** Views of a table in the tree; if the search found the table by its views, those. */
function ViewNodes({ base, table, search }: { base: Base; table: Table; search: string }) {
  const schema = trpc.schema.table.useQuery({ tableId: table.id })
  const views = schema.data?.views
  if (schema.error && !views) {
    return <p className={styles.empty}>{m.shell_views_load_failed()}</p>
  }
  if (!views) return <Skeleton width="60%" />
  const shown = matches(table.title, search) ? views : views.filter(({ title }) => matches(title, search))
  return (
    <SortableList
      ids={shown.map((view) => view.id)}
      disabled={search !== '' || !roleCan(base.role, 'view.update')}
      onMove={(id, before) => {
        const view = views.find((one) => one.id === id)
        if (view)
          menus()
            .then(({ reorderView }) => reorderView(view, before))
            .catch(showError)
      }}
    >
      <ul className={styles.views}>
        {shown.map((view) => (
          <ViewNode key={view.id} base={base} view={view} siblings={views} />
        ))}
      </ul>
    </SortableList>
  )
}

function ViewNode({ base, view, siblings }: { base: Base; view: View; siblings: View[] }) {
  const open = useOpenPlace()
  const [isRenaming, setIsRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  const { ref, style, listeners } = useSortableItem(view.id)
  // Without a view in the URL, the table shows its default view.
  const isCurrent = open.tableId === view.tableId && (open.viewId ? open.viewId === view.id : view.isDefault)
  const canRename = roleCan(base.role, 'view.update') && heldReason(view) === null
  const rename = () => setIsRenaming(true)
  const menuLabel = m.shell_options_for_view_title({ title: view.title })
  const mark = modeMark(view, base.id)
  const hidden = hiddenMark(view)
  const shared = m.shell_shared_with_a_public_link()
  const menu = () => menus().then(({ viewMenu }) => viewMenu(base, view, siblings, rename))

  return (
    <li ref={ref} style={style} onContextMenu={(event) => openContextMenu(event, menu(), menuLabel)}>
      <div className={styles.line} data-current={isCurrent && open.viewId ? '' : undefined}>
        {isRenaming ? (
          <InlineRename
            title={view.title}
            onRename={async (title) => (await menus()).renameView(view, title)}
            onClose={() => {
              setIsRenaming(false)
              requestAnimationFrame(() => link.current?.focus())
            }}
          />
        ) : (
          <a
            ref={link}
            href={hrefOf(paths.table(base.id, view.tableId, view.id))}
            className={styles.link}
            aria-current={isCurrent ? 'page' : undefined}
            draggable={false}
            {...listeners}
            onDoubleClick={canRename ? rename : undefined}
            onKeyDown={(event) => {
              if (event.key !== 'F2' || !canRename) return
              event.preventDefault()
              rename()
            }}
          >
            <ViewIcon view={view} />
            <span className={styles.title} dir="auto" {...tipOf(view)}>
              {view.title}
            </span>
            {hidden && (
              <span role="img" className={styles.mark} aria-label={hidden} data-tip={hidden}>
                <EyeOff size={12} />
              </span>
            )}
            {view.isShared && (
              <span role="img" className={styles.mark} aria-label={shared} data-tip={shared}>
                <Globe size={12} />
              </span>
            )}
            {mark && (
              <span role="img" className={styles.mark} aria-label={mark} data-tip={mark}>
                {view.lock === 'locked' ? <Lock size={12} /> : <UserRound size={12} />}
              </span>
            )}
          </a>
        )}
        <span className={styles.more}>
          <IconButton
            icon={Ellipsis}
            size="small"
            label={menuLabel}
            data-tip={m.common_more()}
            aria-haspopup="menu"
            onClick={(event) => openMenu(event.currentTarget, menu(), menuLabel)}
          />
        </span>
      </div>
    </li>
  )
}

interface InlineRenameProps {
  title: string
  /** Saves the title; an error is shown below the input, which keeps its text. */
  onRename: (title: string) => Promise<void>
  onClose: () => void
}

/** Edits a title in place: Enter or blur saves, Escape cancels. */
function InlineRename({ title, onRename, onClose }: InlineRenameProps) {
  const [text, setText] = useState(title)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)

  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [])

  async function save() {
    if (isDone.current) return
    if (text.trim() === '' || text.trim() === title) return close()
    isDone.current = true
    try {
      await onRename(text.trim())
      onClose()
    } catch (error) {
      isDone.current = false
      setProblem(messageOf(error))
      input.current?.focus()
    }
  }

  function close() {
    isDone.current = true
    onClose()
  }

  return (
    <span className={styles.rename}>
      <input
        ref={input}
        dir="auto"
        aria-label={m.shell_new_name()}
        aria-invalid={problem ? true : undefined}
        maxLength={255}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
        onBlur={() => problem === null && void save()}
        // The surrounding row handles dragging and keys.
        onPointerDown={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') void save()
          if (event.key === 'Escape') {
            event.preventDefault()
            close()
          }
        }}
      />
      {problem && (
        <span className={styles.problem} role="alert">
          {problem}
        </span>
      )}
    </span>
  )
}

/** Tooltip of a table or view: title and description, or only a clipped title. */
const tipOf = ({ title, description }: { title: string; description: string | null }) =>
  description ? { 'data-tip': `${title}\n${description}` } : { 'data-tip': title, 'data-tip-clipped': true }
