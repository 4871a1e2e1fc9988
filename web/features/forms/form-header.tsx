import type { FormOptions } from '../../../src/core/views/index.ts'
import { RichText } from '../../rich-text/rich-text.tsx'
import styles from './form.module.css'

/** The top of a form: banner, logo, heading, and what it is about. */
export function FormHeader(props: {
  options: FormOptions
  title: string
  pictures: { banner: string | null; logo: string | null }
}) {
  const { options, title, pictures } = props
  return (
    <>
      <Pictures options={options} pictures={pictures} />
      <header className={styles.header}>
        <h1 className={styles.title} dir="auto">
          {options.heading || title}
        </h1>
        {options.subheading && <RichText text={options.subheading} className={styles.about} />}
      </header>
    </>
  )
}

/** Banner and logo; their room is kept while they are on their way. */
export function Pictures({
  options,
  pictures,
}: Pick<Parameters<typeof FormHeader>[0], 'options' | 'pictures'>) {
  const hasBanner = !options.hideBanner && options.bannerPath !== null
  return (
    <>
      {hasBanner && (
        <div className={styles.banner}>{pictures.banner && <img src={pictures.banner} alt="" />}</div>
      )}
      {options.logoPath !== null && (
        <div className={styles.logo} data-over={hasBanner || undefined}>
          {pictures.logo && <img src={pictures.logo} alt="" />}
        </div>
      )}
    </>
  )
}
