import { FileText, Paperclip, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { AttachmentOptions } from '../../../../src/core/fields/attachment.ts'
import {
  FILE_KIND_KEYS,
  type FileKind,
  isAllowedKind,
  isSafeImage,
  TYPES_BY_ENDING,
} from '../../../../src/core/fields/attachment-kinds.ts'
import type { Question } from '../../../../src/core/views/question.ts'
import { formatFileSize } from '../../../attachments/format-bytes.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Group } from '../../../ui/composite.tsx'
import type { LocalFile } from '../form-source.ts'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

/** Collects files by file dialog, drop or paste; they are uploaded on submit. */
export function FileAnswer({ question, run, id, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field } = question
  const files = run.files(field.id)
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const { maxCount } = field.options as AttachmentOptions
  const add = (list: Iterable<File>) => {
    const added = [...list].map((file) => ({ key: crypto.randomUUID(), file }))
    if (added.length === 0) return
    run.setFiles(field.id, maxCount === 1 ? added.slice(-1) : [...files, ...added])
    run.leave(field.id)
  }
  return (
    <Group
      role="group"
      aria-labelledby={labelId}
      className={styles.files}
      data-over={isOver || undefined}
      data-invalid={isInvalid || undefined}
      onDragOver={(event) => {
        if (isReadOnly || !event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (!isReadOnly) add(event.dataTransfer.files)
      }}
      onPaste={(event) => !isReadOnly && add(event.clipboardData.files)}
    >
      {files.length > 0 && (
        <ul className={styles.fileList}>
          {files.map((one) => (
            <FileLine
              key={one.key}
              one={one}
              onRemove={() =>
                run.setFiles(
                  field.id,
                  files.filter(({ key }) => key !== one.key),
                )
              }
            />
          ))}
        </ul>
      )}
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        tabIndex={-1}
        aria-hidden
        multiple={maxCount !== 1}
        accept={acceptOf(kindsOf(question))}
        onChange={(event) => {
          add(event.target.files ?? [])
          // Reset, or choosing a removed file again would fire no `change` event.
          event.target.value = ''
        }}
      />
      <Button
        id={id}
        icon={Paperclip}
        disabled={isReadOnly}
        aria-describedby={describedBy}
        onClick={() => input.current?.click()}
      >
        {files.length === 0 || maxCount === 1 ? m.form_drop_files_here_or_browse() : m.form_add_more_files()}
      </Button>
    </Group>
  )
}

function FileLine({ one: { file }, onRemove }: { one: LocalFile; onRemove: () => void }) {
  const picture = usePicture(file)
  return (
    <li className={styles.file}>
      {picture ? <img src={picture} alt="" /> : <FileText size={18} aria-hidden />}
      <span className={styles.fileName} dir="auto" title={file.name}>
        {file.name}
      </span>
      <span className={styles.faint}>{formatFileSize(file.size)}</span>
      <IconButton
        icon={X}
        size="small"
        label={m.form_remove_title({ title: file.name })}
        onClick={onRemove}
      />
    </li>
  )
}

/** Object URL for previewing an image file; null for other files. Revoked on unmount. */
function usePicture(file: File): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (!isSafeImage(file.type)) return
    const made = URL.createObjectURL(file)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return url
}

/** File kinds accepted by both the field and the form's `fileKinds` rule; empty accepts all. */
function kindsOf({ field, form }: Question): FileKind[] {
  const own = (field.options as AttachmentOptions).kinds
  const rule = form.rules.find(({ rule }) => rule === 'fileKinds')?.value
  const ruled = FILE_KIND_KEYS.filter((key) =>
    String(rule ?? '')
      .split(',')
      .includes(key),
  )
  if (ruled.length === 0) return own
  return own.length === 0 ? ruled : ruled.filter((key) => own.includes(key))
}

function acceptOf(kinds: readonly FileKind[]): string | undefined {
  if (kinds.length === 0) return undefined
  const whole = kinds.filter((kind) => kind === 'image' || kind === 'audio' || kind === 'video')
  const endings = Object.entries(TYPES_BY_ENDING).flatMap(([ending, type]) =>
    isAllowedKind(type, kinds) ? [`.${ending}`] : [],
  )
  return [...whole.map((kind) => `${kind}/*`), ...endings].join(',')
}
