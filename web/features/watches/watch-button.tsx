import { Eye } from 'lucide-react'
import { useEffect } from 'react'
import { useStore } from 'zustand'
import { m } from '../../messages.gen.ts'
import { IconButton } from '../../ui/button.tsx'
import { readWatched, toggleWatch } from './watch-commands.ts'
import { type WatchTarget, watched, watchKey } from './watched.ts'

/** Watches a record, or stops it. */
export function WatchButton({ target }: { target: WatchTarget }) {
  const keys = useStore(watched)
  const isWatched = keys?.has(watchKey(target)) ?? false
  const isRead = keys !== null
  useEffect(() => {
    // Pressing it reports a failure.
    if (!isRead) readWatched().catch((error) => console.warn('watches could not be read', error))
  }, [isRead])
  return (
    <IconButton
      icon={Eye}
      size="small"
      iconSize={15}
      label={m.watches_watch_record()}
      data-tip={isWatched ? m.watches_stop_watching_record() : m.watches_watch_record()}
      aria-pressed={isWatched}
      disabled={!isRead}
      onClick={() => void toggleWatch(target)}
    />
  )
}
