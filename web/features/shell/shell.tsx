import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useStore } from 'zustand'
import { m } from '../../messages.gen.ts'
import { useCheckOfSession } from '../../session/use-me.ts'
import { connection, onReconnect, onSchemaChange, watchBase } from '../../socket.ts'
import { cache } from '../../trpc.ts'
import { useOnChange } from '../../ui/effects.ts'
import { useLayer } from '../../ui/layers.ts'
import { Main } from '../../ui/main.tsx'
import { BaseDialog } from '../bases/base-commands.tsx'
import { setDrawerOpen, useIsNarrow, useSidebarState } from '../layout/sidebar-state.ts'
import { CreateTableDialog } from '../tables/table-commands.tsx'
import { CommandPalette } from './actions/shell.tsx'
import { useKeyMap } from './key-map.ts'
import { NewBuildBar } from './new-build-bar.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'
import { SidebarEdge } from './sidebar-edge.tsx'
import { TopBar } from './top-bar.tsx'
import { useOpenPlace } from './use-place.ts'
import { useUnfinishedJobs } from './use-unfinished-jobs.ts'

/** The frame around every screen of someone who is signed in. */
export function Shell() {
  const { baseId } = useOpenPlace()
  const { width, collapsed, drawerOpen } = useSidebarState()
  const isNarrow = useIsNarrow()
  const { href } = useLocation()
  useKeyMap()
  useCheckOfSession()
  useIdlePreload()
  useUnfinishedJobs()
  useFollowBase(baseId)

  // A drawer that stays open after one has chosen hides what one chose.
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
        <NewBuildBar />
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

/** A thin line while the server is out of reach; it goes by itself. */
function ConnectionBar() {
  const state = useStore(connection)
  return (
    <div role="status">
      {state === 'lost' && <div className={styles.bar}>{m.shell_connection_lost_reconnecting()}</div>}
    </div>
  )
}

/** Keeps the tree of tables, fields and views in step with other people's changes while a base is open. */
function useFollowBase(baseId: string | undefined): void {
  useEffect(() => {
    if (!baseId) return
    const stopWatching = watchBase(baseId)
    const stopSchema = onSchemaChange(({ baseId: changed, tableId }) => {
      void cache.schema.tables.invalidate({ baseId: changed })
      if (tableId) void cache.schema.table.invalidate({ tableId })
      else void cache.bases.get.invalidate({ baseId: changed })
    })
    // What happened meanwhile was not sent.
    const stopReconnect = onReconnect(() => {
      void cache.schema.invalidate()
      void cache.bases.invalidate()
    })
    return () => {
      stopWatching()
      stopSchema()
      stopReconnect()
    }
  }, [baseId])
}

/** Time after which the screen in front has what it needs. */
const PRELOAD_AFTER_MS = 1500

/** Fetches what a key press opens before it is pressed, once the screen is drawn. */
function useIdlePreload(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const part of [CommandPalette, BaseDialog, CreateTableDialog]) {
        // Offline: opening it will say so.
        part.preload().catch((error) => console.warn('not fetched ahead of time', error))
      }
    }, PRELOAD_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
}
