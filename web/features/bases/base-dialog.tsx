import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { type BaseTheme, DEFAULT_THEME, isDefaultTheme, readTheme } from '../../../src/core/theme.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { BASE_COLORS, BaseIcon } from '../layout/base-icon.tsx'
import { themeProperties } from '../layout/theme.ts'
import { unusedTitle } from '../layout/unused-title.ts'
import styles from './base-dialog.module.css'

/** Name and colour of a base: of a new one, or, given `base`, of that one. */
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
    void utils.bases.list.invalidate()
    utils.bases.get.setData({ baseId: saved.id }, saved)
    onClose()
    if (!base) goTo(paths.base(saved.id))
  }
  const create = trpc.bases.create.useMutation({ onSuccess })
  const update = trpc.bases.update.useMutation({ onSuccess })
  const { error, isPending } = base ? update : create
  // A colour that another program chose stays a choice.
  const colors = [...new Set<string>([...BASE_COLORS, base?.meta.iconColor ?? BASE_COLORS[0]])]
  const isEmpty = title.trim() === ''

  function submit() {
    if (isEmpty || isPending) return
    // A base that keeps the product's colours follows them when they change.
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
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isPending} disabled={isEmpty}>
            {base ? m.common_save() : m.bases_create_base()}
          </Button>
        </>
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

/** The colours of a base's pages, with a sample of how they look. */
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
  /** The default, which leads the row. */
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
