import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { m } from '../../messages.gen.ts'
import { IconButton } from '../../ui/button.tsx'
import { CHECK_EVERY_MS, ownBuild, readLatestBuild, watchBuild } from './build-watch.ts'
import styles from './shell.module.css'

/** Offers to reload when the server has a new version; never reloads by itself, because the user may be typing. */
export function NewBuildBar() {
  const [isOffered, setOffered] = useState(false)
  useEffect(
    () =>
      watchBuild({
        own: ownBuild,
        latest: readLatestBuild,
        everyMs: CHECK_EVERY_MS,
        onNew: () => setOffered(true),
      }),
    [],
  )
  return (
    <div role="status">
      {isOffered && (
        <div className={styles.news}>
          <span>{m.shell_new_version_sheaf_available()}</span>
          <button type="button" className={styles.reload} onClick={() => location.reload()}>
            {m.shell_reload()}
          </button>
          <IconButton
            icon={X}
            size="small"
            iconSize={14}
            label={m.shell_later()}
            onClick={() => setOffered(false)}
          />
        </div>
      )}
    </div>
  )
}
