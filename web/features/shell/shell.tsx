import { type KeyboardEvent, type PointerEvent, useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { actionContext } from '../../actions/action.ts'
import { actionOfKey, provideAppActions, runAction } from '../../actions/index.ts'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Outlet, useLocation } from '../../navigation/router.tsx'
import { useCheckOfSession } from '../../session/use-me.ts'
import { connection, onReconnect, onSchemaChange, watchBase } from '../../socket.ts'
import { cache } from '../../trpc.ts'
import { useOnChange } from '../../ui/effects.ts'
import { hasOpenLayer, useLayer } from '../../ui/layers.ts'
import { Main } from '../../ui/main.tsx'
import {
  MAX_SIDEBAR_WIDTH,
  MIN_SIDEBAR_WIDTH,
  setDrawerOpen,
  setSidebarWidth,
  useIsNarrow,
  useSidebarState,
} from '../layout/sidebar-state.ts'
import { APP_ACTIONS } from './actions.tsx'
import { LaterParts } from './later.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'
import { useOpenPlace } from './use-place.ts'

/** Frame around all screens of signed-in users. */
export function Shell() {
  const { baseId } = useOpenPlace()
  const { width, collapsed, drawerOpen } = useSidebarState()
  const isNarrow = useIsNarrow()
  const { href } = useLocation()
  useKeyMap()
  useCheckOfSession()
  useFollowBase(baseId)

  // Close the drawer after navigation.
  useOnChange([href, isNarrow], () => setDrawerOpen(false))

  return (
    <div className={styles.shell}>
      <button
        type="button"
        className={styles.skip}
        onClick={() => document.getElementById('content')?.focus()}
      >
        {m.shell_skip_to_content()}
      </button>
      {!isNarrow && <Rail />}
      {!isNarrow && baseId && !collapsed && (
        <div className={styles.sidebar} style={{ inlineSize: width }}>
          <Sidebar baseId={baseId} edge={<SidebarEdge />} />
        </div>
      )}
      <div className={styles.main} inert={isNarrow && drawerOpen}>
        <ConnectionBar />
        <LaterParts slot="bars" baseId={baseId} />
        {(isNarrow || baseId) && <TopBar baseId={baseId} />}
        <Main id="content" className={styles.content} tabIndex={-1}>
          <Outlet />
        </Main>
      </div>
      {isNarrow && drawerOpen && <Drawer baseId={baseId} />}
    </div>
  )
}

function Drawer({ baseId }: { baseId?: string }) {
  useLayer(() => setDrawerOpen(false), { staysOnNavigation: true })
  return (
    <div
      className={styles.drawerOverlay}
      onPointerDown={(event) => event.target === event.currentTarget && setDrawerOpen(false)}
    >
      <div className={styles.drawer} role="dialog" aria-modal="true" aria-label={m.shell_navigation()}>
        <Rail />
        {baseId && (
          <div className={styles.drawerSidebar}>
            <Sidebar baseId={baseId} />
          </div>
        )}
      </div>
    </div>
  )
}

/** Bar shown while the live connection is lost. */
function ConnectionBar() {
  const state = useStore(connection)
  return (
    <div role="status">
      {state === 'lost' && <div className={styles.bar}>{m.shell_connection_lost_reconnecting()}</div>}
      {state === 'restarting' && <div className={styles.bar}>{m.shell_server_restoring()}</div>}
    </div>
  )
}

/** Refreshes tables, fields and views when others change them in the open base. */
function useFollowBase(baseId: string | undefined): void {
  useEffect(() => {
    if (!baseId) return
    const stopWatching = watchBase(baseId)
    const stopSchema = onSchemaChange(({ baseId: changed, tableId }) => {
      void cache.schema.tables.invalidate({ baseId: changed })
      if (tableId) {
        void cache.schema.table.invalidate({ tableId })
        void cache.views.titles.invalidate({ baseId: changed })
      } else void cache.bases.get.invalidate({ baseId: changed })
    })
    // Changes made while disconnected were not received.
    const stopReconnect = onReconnect(() => {
      void cache.schema.invalidate()
      void cache.views.titles.invalidate()
      void cache.bases.invalidate()
    })
    return () => {
      stopWatching()
      stopSchema()
      stopReconnect()
    }
  }, [baseId])
}

const KEY_STEP = 16

/** Resizes the sidebar by dragging or with arrow keys. */
function SidebarEdge() {
  const { width } = useSidebarState()
  const [start, setStart] = useState<{ x: number; width: number } | null>(null)
  const sign = direction() === 'ltr' ? 1 : -1

  function onPointerDown(event: PointerEvent<HTMLElement>) {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    setStart({ x: event.clientX, width })
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowRight: KEY_STEP * sign, ArrowLeft: -KEY_STEP * sign }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setSidebarWidth(width + step)
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> takes no focus and no value
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={m.shell_width_of_the_sidebar()}
      aria-valuenow={width}
      aria-valuemin={MIN_SIDEBAR_WIDTH}
      aria-valuemax={MAX_SIDEBAR_WIDTH}
      className={styles.edge}
      data-dragging={start ? '' : undefined}
      onPointerDown={onPointerDown}
      onPointerMove={(event) => start && setSidebarWidth(start.width + (event.clientX - start.x) * sign)}
      onPointerUp={() => setStart(null)}
      onPointerCancel={() => setStart(null)}
      onKeyDown={onKeyDown}
    />
  )
}

provideAppActions(APP_ACTIONS)

/** Runs actions by shortcut. */
function useKeyMap(): void {
  useEffect(() => {
    function onKeyDown(event: globalThis.KeyboardEvent) {
      // Another control has handled the key.
      if (event.defaultPrevented || event.isComposing) return
      if (hasOpenLayer()) return
      const context = actionContext()
      const action = actionOfKey(event, context)
      if (!action) return
      event.preventDefault()
      runAction(action, context)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
