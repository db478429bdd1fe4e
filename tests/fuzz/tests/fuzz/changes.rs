use fastrand::Rng;

const BYTES_MAX: usize = 1024 * 1024;
/// Numbers that trip up readers.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "99999999999999999999",
    "0.00000001",
];

pub(crate) fn changed(samples: &[Vec<u8>], words: &[&str], random: &mut Rng) -> Vec<u8> {
    let sample = |random: &mut Rng| samples[random.usize(..samples.len())].clone();
    let mut file = sample(random);
    for _ in 0..random.usize(1..9) {
        let at = random.usize(..=file.len());
        let end = (at + random.usize(..64)).min(file.len());
        match random.u8(..10) {
            0 if at < file.len() => file[at] ^= 1 << random.u8(..8),
            1 if at < file.len() => {
                file[at] = *random.choice(&[0, 1, 0x7f, 0x80, 0xff, b'(', b'<', b'\n']).unwrap_or(&0);
            }
            2 => drop(file.drain(at..end)),
            3 => {
                let part = file[at..end].to_vec();
                insert(&mut file, &part, random);
            }
            4 | 5 if !words.is_empty() => {
                let word = format!(" {} ", words[random.usize(..words.len())]);
                file.splice(at..at, word.bytes());
            }
            6 | 7 => other_number(&mut file, at, random),
            8 => {
                let part = file[at..end].repeat(1 << random.u32(..10));
                insert(&mut file, &part, random);
            }
            _ => {
                let other = sample(random);
                let from = random.usize(..=other.len());
                file.truncate(at);
                file.extend_from_slice(&other[from..]);
            }
        }
        file.truncate(BYTES_MAX);
    }
    file
}

fn insert(file: &mut Vec<u8>, part: &[u8], random: &mut Rng) {
    let at = random.usize(..=file.len());
    file.splice(at..at, part.iter().copied());
}

fn other_number(file: &mut Vec<u8>, from: usize, random: &mut Rng) {
    let Some(start) = file[from..].iter().position(u8::is_ascii_digit).map(|digit| from + digit) else { return };
    let digits = file[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS[random.usize(..NUMBERS.len())];
    file.splice(start..start + digits, number.bytes());
}
