import { Languages } from 'lucide-react'
import { availableLanguages, currentLanguage, type Language, setLanguage } from '../i18n.ts'
import { LANGUAGE_NAMES } from '../language-names.ts'
import { m } from '../messages.gen.ts'
import styles from './language-select.module.css'

/** Selects the language of the interface, with native names; hidden if there is only one. */
export function LanguageSelect() {
  const languages = availableLanguages()
  if (languages.length < 2) return null
  return (
    <label className={styles.select}>
      <Languages size={15} />
      <span className="visually-hidden">{m.ui_language()}</span>
      <select
        value={currentLanguage()}
        onChange={(event) => void setLanguage(event.target.value as Language)}
      >
        {languages.map((code) => (
          <option key={code} value={code}>
            {LANGUAGE_NAMES[code]}
          </option>
        ))}
      </select>
    </label>
  )
}
