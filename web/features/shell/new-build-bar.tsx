import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { t } from '../../i18n.ts'
import { IconButton } from '../../ui/button.tsx'
import { CHECK_EVERY_MS, ownBuild, readLatestBuild, watchBuild } from './build-watch.ts'
import styles from './shell.module.css'

/** Offers to reload once the server has a new version. It never reloads by itself: somebody may be typing. */
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
          <span>{t('A new version of Sheaf is available.')}</span>
          <button type="button" className={styles.reload} onClick={() => location.reload()}>
            {t('Reload')}
          </button>
          <IconButton
            icon={X}
            size="small"
            iconSize={14}
            label={t('Later')}
            onClick={() => setOffered(false)}
          />
        </div>
      )}
    </div>
  )
}
