import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { t } from '../../i18n.ts'
import { useCheckOfSession } from '../../session/use-me.ts'
import { useLayer } from '../../ui/layers.ts'
import { Main } from '../../ui/main.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { useKeyMap } from './key-map.ts'
import { NewBuildBar } from './new-build-bar.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'
import { SidebarEdge } from './sidebar-edge.tsx'
import { setDrawerOpen, useIsNarrow, useSidebarState } from './sidebar-state.ts'
import { TopBar } from './top-bar.tsx'
import { useFollowBase } from './use-follow-base.ts'
import { useIdlePreload } from './use-idle-preload.ts'
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes whenever the address changes
  useEffect(() => setDrawerOpen(false), [href, isNarrow])

  return (
    <div className={styles.shell}>
      <button
        type="button"
        className={styles.skip}
        onClick={() => document.getElementById('content')?.focus()}
      >
        {t('Skip to content')}
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
      <div className={styles.drawer} role="dialog" aria-modal="true" aria-label={t('Navigation')}>
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
