import type { ComponentType } from 'react'
import { preloadAfterContent, useIsContentShown } from '../../navigation/after-content.ts'
import { lazyPart, loadPart } from '../../navigation/lazy-screen.ts'
import { holdKeys } from '../../ui/held-input.ts'
import { lazyDialog } from '../../ui/lazy-dialog.ts'

/*
 * The parts of the shell that are loaded after the first content, so that they do not delay it. To add one, write a line
 * in `PARTS`, and list its module under `shell` in scripts/build-web.ts, which makes one request of all.
 */

/**
 * Where a part is drawn: in the bar of icons (in narrow windows, in the top bar), at the end of the top bar, above the
 * screen, or in the line of a table.
 */
type Slot = 'rail' | 'topBar' | 'bars' | 'table'

interface PartProps {
  /** The open base. */
  baseId?: string
  tableId?: string
}

/** In their order. A part that takes room reserves it in its slot, so that nothing moves when it appears. */
const PARTS: Record<Slot, Readonly<Record<string, ComponentType<PartProps>>>> = {
  rail: { notifications: lazyPart(() => import('../notifications/bell.tsx'), 'NotificationBell') },
  topBar: { people: lazyPart(() => import('../presence/people-here.tsx'), 'PeopleHere') },
  table: { people: lazyPart(() => import('../presence/table-people.tsx'), 'TablePeople') },
  bars: {
    newBuild: lazyPart(() => import('./new-build-bar.tsx'), 'NewBuildBar'),
    unfinishedJobs: lazyPart(() => import('./unfinished-jobs.ts'), 'UnfinishedJobs'),
  },
}

/** The later parts of a slot, as soon as the first content is shown. */
export function LaterParts({ slot, ...props }: PartProps & { slot: Slot }) {
  const isTime = useIsContentShown()
  if (!isTime) return null
  return Object.entries(PARTS[slot]).map(([name, Part]) => <Part key={name} {...props} />)
}

/** Menus and commands of the shell. An early click waits for them. */
export const menus = () => loadPart(() => import('./menus.ts'))

/** Commands of the shell that open a dialog: what is typed from now on is typed there. */
export function dialogMenus(): ReturnType<typeof menus> {
  const loading = menus()
  holdKeys(loading)
  return loading
}

/** The shortcut `mod+k` opens it. */
export const CommandPalette = lazyDialog(() => import('./command-palette.tsx'), 'CommandPalette')

const dialogs = {
  async preload() {
    const { BaseDialog, CreateTableDialog } = await menus()
    await Promise.all([CommandPalette, BaseDialog, CreateTableDialog].map((part) => part.preload()))
  },
}

preloadAfterContent(dialogs)
