import { ClipboardPaste, FileUp, Link2 } from 'lucide-react'
import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import styles from './choose-source.module.css'
import { FileDrop, SourceButtons } from './source-choice.tsx'

/** Preferred file types; browsers let users pick others as well. */
const ACCEPT =
  '.csv,.tsv,.tab,.txt,.xlsx,.xlsm,.xlsb,.xls,.xml,.ods,.fods,.json,.ndjson,.jsonl,.geojson,text/csv,text/plain,application/json'

export interface ChooseSourceProps {
  /** Pasted text to begin with; '' for none. */
  text: string
  onFiles: (files: File[]) => Promise<void>
  onText: (text: string) => Promise<void>
  onUrl: (url: string) => Promise<void>
}

type Way = 'file' | 'text' | 'url'

/** First step of an import: choose or drop files, paste text, or enter a URL. */
export function ChooseSource({ text: initialText, onFiles, onText, onUrl }: ChooseSourceProps) {
  const [way, setWay] = useState<Way>(initialText === '' ? 'file' : 'text')
  const [text, setText] = useState(initialText)
  const [url, setUrl] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  async function run(work: () => Promise<void>): Promise<void> {
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (failure) {
      setError(messageOf(failure))
      setBusy(false)
    }
  }

  const ways = [
    { id: 'file' as const, icon: FileUp, label: m.imports_file() },
    { id: 'text' as const, icon: ClipboardPaste, label: m.imports_paste() },
    { id: 'url' as const, icon: Link2, label: m.imports_address() },
  ]
  return (
    <div className={styles.choose}>
      <SourceButtons label={m.imports_data_source()} sources={ways} selected={way} onSelect={setWay} />
      {way === 'file' && (
        <FileDrop
          label={m.imports_drop_files_here()}
          button={m.imports_choose_files()}
          hint={m.imports_each_file_or_sheet_becomes_new_table()}
          accept={ACCEPT}
          multiple
          isBusy={isBusy}
          onFiles={(files) => void run(() => onFiles(files))}
        />
      )}
      {way === 'text' && (
        <>
          <TextArea
            label={m.imports_paste_rows_spreadsheet_csv_json()}
            rows={9}
            value={text}
            autoFocus
            spellCheck={false}
            className={styles.paste}
            onChange={(event) => setText(event.target.value)}
          />
          <Button
            variant="primary"
            busy={isBusy}
            disabled={text.trim() === ''}
            onClick={() => void run(() => onText(text))}
          >
            {m.imports_continue()}
          </Button>
        </>
      )}
      {way === 'url' && (
        <>
          <TextField
            label={m.imports_url_of_a_file()}
            type="url"
            dir="ltr"
            placeholder="https://example.com/people.xlsx"
            value={url}
            autoFocus
            error={error}
            onChange={(event) => {
              setUrl(event.target.value)
              setError(null)
            }}
            onKeyDown={(event) =>
              event.key === 'Enter' && url.trim() !== '' && void run(() => onUrl(url.trim()))
            }
          />
          <Button
            variant="primary"
            busy={isBusy}
            disabled={url.trim() === ''}
            onClick={() => void run(() => onUrl(url.trim()))}
          >
            {m.imports_fetch_file()}
          </Button>
        </>
      )}
      {error && way !== 'url' && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
