import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { type BaseTheme, DEFAULT_THEME, isDefaultTheme, readTheme } from '../../../src/core/theme.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { BASE_COLORS, BaseIcon } from '../layout/base-icon.tsx'
import { themeProperties } from '../layout/theme.ts'
import { unusedTitle } from '../layout/unused-title.ts'
import styles from './base-dialogs.module.css'

/** Creates a base, or edits the name and colours of `base`. */
export function BaseDialog({ base, onClose }: { base?: Base; onClose: () => void }) {
  const utils = trpc.useUtils()
  const [title, setTitle] = useState(
    () =>
      base?.title ??
      unusedTitle(m.common_base(), utils.bases.list.getData({})?.map((one) => one.title) ?? []),
  )
  const [iconColor, setIconColor] = useState<string>(base?.meta.iconColor ?? BASE_COLORS[0])
  const [theme, setTheme] = useState(() => readTheme(base?.meta ?? {}))
  const onSuccess = (saved: Base) => {
    utils.bases.get.setData({ baseId: saved.id }, saved)
    // Opened again from the list, the dialog would save what it showed before.
    utils.bases.list.setData({}, (list) => list?.map((one) => (one.id === saved.id ? saved : one)))
    void utils.bases.list.invalidate()
    onClose()
    if (!base) goTo(paths.base(saved.id))
  }
  const create = trpc.bases.create.useMutation({ onSuccess })
  const update = trpc.bases.update.useMutation({ onSuccess })
  const { error, isPending } = base ? update : create
  // Also offer a colour that was set through the API.
  const colors = [...new Set<string>([...BASE_COLORS, base?.meta.iconColor ?? BASE_COLORS[0]])]
  const isEmpty = title.trim() === ''

  function submit() {
    if (isEmpty || isPending) return
    // The default theme is not stored, so that such bases follow changes of the product's colours.
    const { theme: _, ...others } = base?.meta ?? {}
    const meta = { ...others, iconColor, ...(!isDefaultTheme(theme) && { theme }) }
    if (base) update.mutate({ baseId: base.id, title: title.trim(), meta })
    else create.mutate({ title: title.trim(), meta })
  }

  return (
    <Dialog
      title={base ? m.bases_edit_name_and_colour() : m.bases_new_base()}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <DialogButtons
          label={base ? m.common_save() : m.bases_create_base()}
          busy={isPending}
          disabled={isEmpty}
          onClose={onClose}
        />
      }
    >
      <div className={styles.form}>
        <div className={styles.name}>
          <BaseIcon base={{ title, meta: { ...base?.meta, iconColor } }} size={40} />
          <TextField
            label={m.common_name()}
            className={styles.grow}
            data-autofocus
            data-select-all
            maxLength={255}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
            error={isEmpty ? m.common_enter_a_name() : error && messageOf(error)}
          />
        </div>
        <fieldset className={styles.colors}>
          <legend>{m.bases_icon_colour()}</legend>
          {colors.map((color, index) => (
            <label key={color} className={styles.color} style={{ background: color }}>
              <input
                type="radio"
                name="color"
                className={styles.radio}
                checked={iconColor === color}
                onChange={() => setIconColor(color)}
                aria-label={m.common_colour_number({ n: index + 1 })}
              />
            </label>
          ))}
        </fieldset>
        {base && <ThemeChoice theme={theme} onChange={setTheme} />}
      </div>
    </Dialog>
  )
}

interface ThemeChoiceProps {
  theme: BaseTheme
  onChange: (theme: BaseTheme) => void
}

/** Theme colours of a base with a preview. */
function ThemeChoice({ theme, onChange }: ThemeChoiceProps) {
  return (
    <>
      <ColorChoice
        legend={m.bases_primary_colour()}
        color={theme.primaryColor}
        first={DEFAULT_THEME.primaryColor}
        onChange={(primaryColor) => onChange({ ...theme, primaryColor })}
      />
      <ColorChoice
        legend={m.bases_secondary_colour()}
        color={theme.accentColor}
        first={DEFAULT_THEME.accentColor}
        onChange={(accentColor) => onChange({ ...theme, accentColor })}
      />
      <div className={styles.sample} style={themeProperties(theme)} aria-hidden>
        <span className={styles.sampleButton}>{m.bases_button()}</span>
        <span className={styles.sampleChosen}>{m.bases_selected()}</span>
        <span className={styles.sampleAccent}>{m.bases_secondary_colour()}</span>
      </div>
    </>
  )
}

interface ColorChoiceProps {
  legend: string
  /** `#RRGGBB`. */
  color: string
  /** Default colour, offered first. */
  first: string
  onChange: (color: string) => void
}

function ColorChoice({ legend, color, first, onChange }: ColorChoiceProps) {
  const offered = [...new Set([first, ...BASE_COLORS.map((one) => one.toUpperCase())])]
  const isOwn = !offered.includes(color)
  return (
    <fieldset className={styles.colors}>
      <legend>{legend}</legend>
      {offered.map((one, index) => (
        <label key={one} className={styles.color} style={{ background: one }}>
          <input
            type="radio"
            name={legend}
            className={styles.radio}
            checked={one === color}
            onChange={() => onChange(one)}
            aria-label={one === first ? m.bases_default() : m.common_colour_number({ n: index + 1 })}
          />
        </label>
      ))}
      <label className={styles.color} style={{ background: isOwn ? color : undefined }} data-own={isOwn}>
        <input
          type="color"
          className={styles.radio}
          value={color}
          onChange={(event) => onChange(event.target.value.toUpperCase())}
          aria-label={m.bases_custom_colour()}
        />
      </label>
    </fieldset>
  )
}

interface DeleteBaseDialogProps {
  base: Base
  onClose: () => void
  onConfirm: () => void
}

/** Confirms the deletion of a base: lists its contents, and requires typing its name unless it is empty and private. */
export function DeleteBaseDialog({ base, onClose, onConfirm }: DeleteBaseDialogProps) {
  const [typed, setTyped] = useState('')
  const contents = trpc.records.baseContents.useQuery({ baseId: base.id }, { staleTime: 0 })
  const { data } = contents
  // The user need not type the name of an empty base without other members or links.
  const isLight = data !== undefined && data.records === 0 && data.members <= 1 && data.links === 0
  const isReady = data !== undefined && (isLight || typed.trim() === base.title.trim())
  const submit = () => {
    if (!isReady) return
    onClose()
    onConfirm()
  }
  return (
    <Dialog
      title={m.bases_delete_base_confirm({ title: base.title })}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="danger" disabled={!isReady} data-autofocus={isLight || undefined}>
            {m.bases_delete_base()}
          </Button>
        </>
      }
    >
      {contents.error && !data ? (
        <QueryError title={m.bases_contents_of_the_base_count_failed()} query={contents} />
      ) : data === undefined ? (
        <Skeleton height={60} />
      ) : (
        <>
          <p>{m.bases_delete_base_contents()}</p>
          <ul data-testid="base-contents" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
            {linesOf(data).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>{m.bases_owners_restore_trash_bases_page()}</p>
          {!isLight && (
            <TextField
              label={m.bases_type_title_to_delete_it({ title: base.title })}
              dir="auto"
              autoComplete="off"
              data-autofocus
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </>
      )}
    </Dialog>
  )
}

function linesOf(contents: Outputs['records']['baseContents']): string[] {
  const { tables, records, connectedTables, members, links } = contents
  const lines = [
    m.bases_tables_count({ count: tables }),
    m.common_records_count({ count: records }),
    members === 1 ? m.bases_only_member_is_you() : m.bases_members_who_lose_access({ count: members }),
  ]
  if (links > 0) lines.push(m.bases_shared_links_which_stop_working({ count: links }))
  if (connectedTables > 0) {
    lines.push(m.bases_tables_connected_databases_stay_those({ count: connectedTables }))
  }
  return lines
}
