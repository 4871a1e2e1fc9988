import { useEffect, useId, useState } from 'react'
import { FILE_KINDS, type FileKind } from '../../../../src/core/fields/attachment-kinds.ts'
import { formatFileSize } from '../../../attachments/format-bytes.ts'
import { type ServerLimits, serverLimits } from '../../../attachments/limits.ts'
import { m } from '../../../messages.gen.ts'
import own from './attachment-options.module.css'
import { type OptionsProps, Tick } from './controls.tsx'
import styles from './options.module.css'

/** Allowed kinds, number and size of files. */
export function AttachmentOptionsEditor({ options, onChange }: OptionsProps) {
  const chosen = Array.isArray(options.kinds) ? (options.kinds as FileKind[]) : []
  const server = useServerLimits()
  const toggle = (key: FileKind, isOn: boolean) => {
    const kinds = FILE_KINDS.map((kind) => kind.key).filter((one) =>
      one === key ? isOn : chosen.includes(one),
    )
    onChange({ ...options, kinds })
  }
  return (
    <>
      <fieldset className={own.kinds}>
        <legend>{m.schema_file_types()}</legend>
        {FILE_KINDS.map(({ key, label }) => (
          <Tick
            key={key}
            label={label()}
            checked={chosen.includes(key)}
            onChange={(isOn) => toggle(key, isOn)}
          />
        ))}
      </fieldset>
      {chosen.length === 0 && <p className={own.hint}>{m.schema_all_file_types_are_allowed()}</p>}
      <Amount
        label={m.schema_maximum_files_per_cell()}
        value={options.maxCount}
        max={100}
        placeholder={server && Number.isFinite(server.maxCount) ? String(server.maxCount) : ''}
        onChange={(maxCount) =>
          onChange({ ...options, maxCount: maxCount === null ? null : Math.round(maxCount) })
        }
      />
      <Amount
        label={m.schema_maximum_file_size_mb()}
        value={options.maxSizeMb}
        max={server && Number.isFinite(server.maxBytes) ? server.maxBytes / 1024 ** 2 : 100_000}
        placeholder={server && Number.isFinite(server.maxBytes) ? formatFileSize(server.maxBytes) : ''}
        onChange={(maxSizeMb) => onChange({ ...options, maxSizeMb })}
      />
    </>
  )
}

function Amount(props: {
  label: string
  value: unknown
  max: number
  placeholder: string
  onChange: (value: number | null) => void
}) {
  const { label, value, max, placeholder, onChange } = props
  const id = useId()
  return (
    <div className={styles.line}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={`${styles.control} ${own.amount}`}
        type="number"
        min={0}
        max={max}
        step="any"
        placeholder={placeholder}
        defaultValue={typeof value === 'number' ? value : ''}
        onChange={(event) => {
          const number = event.target.valueAsNumber
          onChange(Number.isFinite(number) && number > 0 ? Math.min(number, max) : null)
        }}
      />
    </div>
  )
}

/** Server limits for attachments; null while they load. */
function useServerLimits(): ServerLimits | null {
  const [limits, setLimits] = useState<ServerLimits | null>(null)
  useEffect(() => {
    let isShown = true
    serverLimits().then(
      (known) => isShown && setLimits(known),
      () => isShown && setLimits(null),
    )
    return () => {
      isShown = false
    }
  }, [])
  return limits
}
