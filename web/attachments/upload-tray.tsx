import { useEffect } from 'react'
import { m } from '../messages.gen.ts'
import { UploadLine } from './upload-line.tsx'
import styles from './upload-tray.module.css'
import { useUnattended, useUploads } from './uploads.ts'

/** Uploads in progress, at the end edge of the page. Closes itself; failed uploads stay until they are dismissed. */
export function UploadTray({ onEmpty }: { onEmpty: () => void }) {
  const isEmpty = useUploads().length === 0
  const uploads = useUnattended()
  useEffect(() => {
    if (isEmpty) onEmpty()
  }, [isEmpty, onEmpty])
  if (uploads.length === 0) return null
  const open = uploads.filter(({ state }) => state !== 'failed').length
  return (
    <section
      className={styles.tray}
      aria-label={m.attachments_uploads()}
      data-testid="upload-tray"
      data-cell-popover
    >
      <h2 className={styles.title} role="status">
        {open > 0
          ? m.attachments_uploading_files({ count: open })
          : m.attachments_files_failed_to_upload({ count: uploads.length })}
      </h2>
      <ul className={styles.list}>
        {uploads.map((upload) => (
          <UploadLine key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}
