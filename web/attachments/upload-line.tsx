import { RotateCw, TriangleAlert, X } from 'lucide-react'
import { m } from '../messages.gen.ts'
import { IconButton } from '../ui/button.tsx'
import { formatFileSize } from './format-bytes.ts'
import styles from './upload-line.module.css'
import { cancelUpload, retryUpload, type Upload } from './uploads.ts'

/** A file being uploaded, with progress and cancel button, or the error and a retry button. */
export function UploadLine({ upload }: { upload: Upload }) {
  const { id, name, size, sent, state, message } = upload
  const isFailed = state === 'failed'
  return (
    <li
      className={styles.line}
      data-testid="upload"
      data-state={state}
      data-unfinished={isFailed || undefined}
    >
      <div className={styles.head}>
        {isFailed && <TriangleAlert size={14} className={styles.alert} aria-hidden />}
        <span className={styles.name} dir="auto" title={name}>
          {name}
        </span>
        {size !== null && <span className={styles.size}>{formatFileSize(size)}</span>}
        {isFailed && (
          <IconButton
            icon={RotateCw}
            size="small"
            iconSize={14}
            label={m.common_try_again()}
            onClick={() => retryUpload(id)}
          />
        )}
        <IconButton
          icon={X}
          size="small"
          iconSize={14}
          label={
            isFailed ? m.attachments_dismiss_name({ name }) : m.attachments_cancel_upload_of_name({ name })
          }
          onClick={() => cancelUpload(id)}
        />
      </div>
      {isFailed ? (
        <p className={styles.message} role="alert">
          {message}
        </p>
      ) : (
        <Progress
          name={name}
          part={size !== null && size > 0 && state === 'sending' ? Math.min(1, sent / size) : null}
        />
      )}
    </li>
  )
}

/** Share of the file that has been sent; null draws an indeterminate bar. */
function Progress({ name, part }: { name: string; part: number | null }) {
  return (
    <div
      className={styles.progress}
      role="progressbar"
      aria-label={m.attachments_upload_of_name({ name })}
      aria-valuenow={part === null ? undefined : Math.round(part * 100)}
      data-unknown={part === null || undefined}
    >
      <span style={part === null ? undefined : { inlineSize: `${part * 100}%` }} />
    </div>
  )
}
