import { m } from '../../../messages.gen.ts'

/** An icon: its character and search terms. */
export interface IconChoice {
  text: string
  words: string
}

const choices = (lines: string): IconChoice[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => {
      const [text = '', ...words] = line.trim().split(' ')
      return { text, words: words.join(' ') }
    })

/** Icons for tables and views by topic. The list is short enough to scan. */
export const ICON_GROUPS: { title: () => string; icons: IconChoice[] }[] = [
  {
    title: () => m.views_work(),
    icons: choices(`
      📋 list clipboard tasks
      ✅ done check tick
      📌 pin important
      🎯 goal target aim
      🚀 rocket launch start project
      💡 idea bulb
      🔥 fire hot urgent
      ⚡ fast lightning energy
      🐞 bug error issue
      🛠️ tools build repair
      ⚙️ settings gear machine
      🧪 test lab experiment
      🔬 research science microscope
      📐 design measure ruler
      🎨 art design palette colour
      ✏️ pencil write draft
      📝 notes memo text
      📅 calendar date plan
      ⏰ clock alarm deadline
      ⏳ waiting hourglass time
      📈 chart growth up report
      📉 chart down loss report
      📊 chart bars statistics
      🗂️ folder files archive
      📁 folder
      🔒 lock private secret
      🔑 key access
      🏷️ label tag price
      🔗 link chain
      🔍 search find lens
    `),
  },
  {
    title: () => m.views_people_and_places(),
    icons: choices(`
      👤 person user contact
      👥 people team group
      🤝 deal partner customer hands
      🙋 question volunteer
      👶 child baby
      🎓 student school graduate
      👩‍💻 developer office computer
      👷 worker construction
      🩺 doctor health medicine
      🏠 house home
      🏢 office company building
      🏫 school
      🏥 hospital
      🏭 factory production
      🏪 shop store
      🏦 bank money
      🌍 world earth global
      🗺️ map
      📍 place pin location
      ✈️ plane travel flight
      🚗 car drive vehicle
      🚚 delivery truck logistics
      🚢 ship freight
      🚲 bicycle
      🏖️ beach holiday vacation
      ⛺ camp tent
    `),
  },
  {
    title: () => m.views_things(),
    icons: choices(`
      💰 money bag budget
      💶 money euro
      💵 money dollar
      💳 card payment
      🧾 receipt invoice bill
      🛒 cart order shopping
      🎁 gift present
      📦 package box stock product
      📞 phone call
      📧 mail email
      💬 chat message comment
      📣 marketing announce megaphone
      📰 news paper press
      📚 books library
      📖 book read
      🎬 film video movie
      📷 photo camera picture
      🎵 music note song
      🎤 microphone speaker talk
      🎮 game play
      ⚽ football sport
      🏆 cup winner prize
      🥇 medal first
      💻 laptop computer
      📱 phone mobile app
      🖨️ printer
      🔌 plug power
      💊 pill medicine
      🧬 gene dna biology
      🪑 chair furniture
      👕 shirt clothes
      ⌚ watch
    `),
  },
  {
    title: () => m.views_nature_and_food(),
    icons: choices(`
      🌱 plant seedling grow
      🌳 tree forest
      🌸 flower blossom
      🍀 luck clover
      🐶 dog pet animal
      🐱 cat pet animal
      🐟 fish
      🐝 bee
      ☀️ sun weather summer
      🌙 moon night
      ⭐ star favourite
      🌈 rainbow
      ❄️ snow winter cold
      💧 water drop
      🍎 apple fruit
      🥕 carrot vegetable
      🍞 bread bakery
      🍕 pizza food
      🍽️ meal restaurant menu
      🍰 cake birthday
      ☕ coffee break
      🍷 wine drink
    `),
  },
  {
    title: () => m.views_marks(),
    icons: choices(`
      ❤️ heart love
      💜 heart purple
      💚 heart green
      🔴 circle red
      🟠 circle orange
      🟡 circle yellow
      🟢 circle green
      🔵 circle blue
      🟣 circle purple
      ⚫ circle black
      🟥 square red
      🟩 square green
      🟦 square blue
      🚩 flag
      ⚠️ warning attention
      ⛔ stop forbidden
      ❓ question
      ❗ exclamation important
      ★ star
      ◆ diamond
      ● dot circle
      ■ square
      ▲ triangle
      ✚ plus cross
      ✓ check tick
      ✗ cross no
      ♪ note music
      § law paragraph
      ∑ sum mathematics
      ∞ infinite
      → arrow right
      № number
    `),
  },
]
