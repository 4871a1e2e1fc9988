import { Image } from 'lucide-react'
import type { Field } from '../../../../src/core/model.ts'
import { isCover } from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'
import toolbar from '../controls/toolbar.module.css'
import { ToolbarButton } from '../controls/toolbar-button.tsx'
import styles from './cover-menu.module.css'

/** Cover options of galleries and kanbans. */
export interface Cover {
  coverFieldId: string | null
  coverFit: 'fit' | 'crop'
}

export interface CoverMenuProps {
  fields: readonly Field[]
  cover: Cover
  onChange: (patch: Partial<Cover>) => void
}

/** Toolbar button for the cover field of cards and its fit. */
export function CoverMenu(props: CoverMenuProps) {
  const field = props.fields.find(({ id }) => id === props.cover.coverFieldId)
  return (
    <ToolbarButton
      icon={Image}
      label={m.views_cover()}
      tip={field ? m.views_cover_field({ field: field.title }) : m.views_card_cover_image()}
      testId="cover-button"
    >
      {() => <CoverChoice {...props} />}
    </ToolbarButton>
  )
}

/** The cover settings without the button, for use in another panel. */
function CoverChoice({ fields, cover, onChange }: CoverMenuProps) {
  const covers = fields.filter((field) => !field.isSystem && isCover(field))
  return (
    <div className={styles.menu}>
      <label className={styles.line}>
        <span>{m.views_cover_image()}</span>
        <select
          className={toolbar.select}
          data-autofocus
          value={cover.coverFieldId ?? ''}
          onChange={(event) => onChange({ coverFieldId: event.target.value || null })}
        >
          <option value="">{m.common_none()}</option>
          {covers.map((field) => (
            <option key={field.id} value={field.id}>
              {field.title}
            </option>
          ))}
        </select>
      </label>
      {covers.length === 0 && <p className={toolbar.hint}>{m.views_add_attachment_field_show_cover()}</p>}
      {cover.coverFieldId !== null && (
        <label className={styles.line}>
          <span>{m.views_image_fit()}</span>
          <select
            className={toolbar.select}
            value={cover.coverFit}
            onChange={(event) => onChange({ coverFit: event.target.value === 'crop' ? 'crop' : 'fit' })}
          >
            <option value="fit">{m.views_fit()}</option>
            <option value="crop">{m.views_fill()}</option>
          </select>
        </label>
      )}
    </div>
  )
}
